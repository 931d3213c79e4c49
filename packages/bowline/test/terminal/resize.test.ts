/** Many changes of the window while an answer streams. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../../../../test/support/deferred.ts";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

/** Lines of 0 to 21 words, each between two marks. */
function linesOf(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const line = from + index;
    const words = Array.from({ length: (line * 7) % 22 }, (__, word) => `w${line}x${word + 1}`);
    return `${[`begin${line}`, ...words, `end${line}.`].join(" ")}\n\n`;
  }).join("");
}

/** The pace of a hand that draws a window. The changes are what is tested, not a wait. */
const BETWEEN_MS = 40;

describe("a window that changes 30 times in an answer", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("has every line of it once and whole in its scrollback, and one draft", async () => {
    const changing = deferred();
    await using chat = await converse(
      tmux,
      () => [
        { text: linesOf(1, 20) },
        { until: changing.promise },
        { text: linesOf(21, 220), rate: 900 },
        { text: "The end.\n" },
      ],
      { columns: 120, rows: 36 },
    );
    await chat.say("many lines");
    await chat.window.until("end20.");
    // Nothing is on its way to the terminal at the first change, of which nobody could know.
    for (let change = 1; change <= 30; change += 1) {
      await chat.window.resize(40 + ((change * 71) % 161), 36);
      if (change === 1) changing.resolve();
      await sleep(BETWEEN_MS);
    }
    await chat.window.untilHistory("The end.");
    await chat.idle();
    const history = await chat.window.history();
    const wrong: string[] = [];
    for (let line = 1; line <= 220; line += 1) {
      const begins = history.split(new RegExp(`\\bbegin${line}\\b`)).length - 1;
      const ends = history.split(`end${line}.`).length - 1;
      if (begins !== 1 || ends !== 1) wrong.push(`${line}: ${begins} begins, ${ends} ends`);
    }
    assert.deepEqual(wrong, [], history);
    assert.equal(history.match(/^> *$/gm)?.length, 1, history);
  });
});
