/** kill -9, and resuming. */
import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { converse, forever } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

/** Streamed text is stored at least this often. */
const LOST_MS = 200;

describe("a conversation killed with kill -9", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("in the middle of a stream loses at most 200 ms of text", async () => {
    const words = Array.from({ length: 2000 }, (_, index) => `w${index + 1}`);
    const rate = 200;
    await using first = await converse(tmux, (_, number) =>
      number === 1 ? [{ text: words.join(" "), rate }] : `Answer ${number}.`,
    );
    await first.say("count");
    await first.window.until(/\bw300\b/);
    const shown = lastWord(await first.window.screen());
    process.kill(await first.window.pid(), "SIGKILL");
    await first.window.exit();
    await using second = await converse(tmux, () => "", { after: first, args: ["--continue"] });
    // The kept text may rightly end up to 200 ms before the last word that was shown.
    const least = shown - (rate * LOST_MS) / 1000;
    const again = lastWord(await second.window.until("The last run was interrupted"));
    assert.ok(again >= least, `shown again up to w${again}, shown up to w${shown}`);
    await second.say("go on from there");
    const { messages } = await second.request(1);
    await second.window.until("Answer 2.");
    const stored = lastWord(messages.map(({ text }) => text).join("\n"));
    assert.ok(stored >= least, `stored up to w${stored}, shown up to w${shown}`);
  });

  it("during a command says of it, to person and model, that its outcome is unknown", async () => {
    await using first = await converse(
      tmux,
      (_, number) =>
        number === 1
          ? [{ call: "bash", args: { command: "touch ran; echo be''gun; sleep 600" } }]
          : `Answer ${number}.`,
      { args: ["--yes"] },
    );
    await first.say("run it");
    await first.window.until("begun"); // its output; the shown command has quotes in it
    process.kill(await first.window.pid(), "SIGKILL");
    await first.window.exit();
    await using second = await converse(tmux, () => "", {
      after: first,
      args: ["--continue", "--yes"],
    });
    await second.window.until(/unknown|interrupted/);
    const count = second.vendor.asked.length;
    await second.say("and now?");
    const { messages } = await second.request(Math.max(1, count));
    assert.match(
      messages
        .filter(({ role }) => role === "tool")
        .map(({ text }) => text)
        .join("\n"),
      /not known whether the call took effect/,
    );
    await access(join(first.folder, "ran"));
  });

  it("has the draft of its last moment when it is resumed", async () => {
    await using first = await converse(tmux, () => [{ text: "Slow" }, { until: forever }]);
    await first.say("begin");
    await first.window.until("Slow");
    await first.window.type("a thought in the making", 5);
    await first.window.until("a thought in the making");
    await new Promise((resolve) => setTimeout(resolve, 400));
    process.kill(await first.window.pid(), "SIGKILL");
    await first.window.exit();
    await using second = await converse(tmux, () => "", { after: first, args: ["--continue"] });
    await second.window.until("a thought in the making");
  });
});

function lastWord(text: string): number {
  return Math.max(0, ...[...text.matchAll(/\bw(\d+)\b/g)].map(([, number]) => Number(number)));
}
