/** Approving a call in a real terminal. */
import assert from "node:assert/strict";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../../../../test/support/deferred.ts";
import { converse, type Conversation } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";
import type { Play } from "./vendor.ts";

/** The pause without typing before keys can answer, and some time for a busy machine. */
const PAUSE_MS = 550;

describe("an approval question", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  const touch = { call: "bash", args: { command: "touch ran && cp ran copied" } };
  const play: Play = (_, number) => (number === 1 ? [touch] : `Answer ${number}.`);

  const hasRun = async (chat: Conversation): Promise<boolean> =>
    access(join(chat.folder, "ran")).then(
      () => true,
      () => false,
    );

  for (const everyMs of [5, 60])
    it(`is not answered by prose typed while it opens, a key every ${everyMs} ms`, async () => {
      const gate = deferred();
      await using chat = await converse(tmux, (_, number) =>
        number === 1 ? [{ text: "I run it." }, { until: gate.promise }, touch] : "Later.",
      );
      await chat.say("run it");
      await chat.window.until("I run it.");
      setTimeout(gate.resolve, 4 * everyMs);
      await chat.window.type("try my 1 ok then y 2 yes 2", everyMs);
      await chat.window.until(/Allow bash:[^]*try my 1 ok then y 2 yes 2/);
      assert.equal(await hasRun(chat), false);
      assert.equal(chat.vendor.asked.length, 1);
    });

  it("is not answered by pasted prose, with or without the pause", async () => {
    await using chat = await converse(tmux, play);
    await chat.say("run it");
    await chat.window.until("Allow bash:");
    await chat.window.paste("try my 1 ok\n2\ny\n");
    await sleep(PAUSE_MS);
    await chat.window.paste("2\n");
    await sleep(PAUSE_MS);
    const screen = await chat.window.until("try my 1 ok");
    assert.match(screen, /Allow bash:/);
    assert.equal(await hasRun(chat), false);
    assert.equal(chat.vendor.asked.length, 1);
  });

  it("is not answered by prose that begins with a digit, after the pause", async () => {
    await using chat = await converse(tmux, play);
    await chat.say("run it");
    await chat.window.until("arrow or digit");
    await chat.window.type("2 files are enough", 30);
    await chat.window.until(/2 files are enough/);
    assert.equal(await hasRun(chat), false);
  });

  it("shows the exact call, why it asks, its parts and the rule that would be remembered", async () => {
    await using chat = await converse(tmux, play);
    await chat.say("run it");
    const screen = await chat.window.until("Allow bash:");
    assert.match(screen, /\$ touch ran && cp ran copied/);
    assert.match(screen, /Why it asks: No rule allows "touch ran"/);
    assert.match(screen, /Parts: touch ran \| cp ran copied/);
    assert.match(screen, /Would be remembered: bash\(touch ran\)[^]*also allows: nothing else/);
    assert.match(screen, /> 1 No/);
    assert.match(screen, /2 Yes/);
  });

  it("runs the call after a digit and Enter, and says which keys allowed it", async () => {
    await using chat = await converse(tmux, play);
    await chat.say("run it");
    await chat.window.until("arrow or digit");
    await chat.window.press("2");
    await chat.window.until(/> 2 Yes/);
    await chat.window.press("Enter");
    const screen = await chat.window.until("Answer 2.");
    assert.match(screen, /bash allowed by .*key 2/);
    assert.equal(await hasRun(chat), true);
  });

  it("denies with Enter alone, and the model is told", async () => {
    await using chat = await converse(tmux, play);
    await chat.say("run it");
    await chat.window.until("arrow or digit");
    await chat.window.press("Enter");
    await chat.window.until("Answer 2.");
    assert.equal(await hasRun(chat), false);
    assert.match(chat.vendor.asked[1]?.last ?? "", /denied|refused|not allowed|declined/i);
  });

  it("saves the edited rule, and does not ask for a call of that rule again", async () => {
    await using chat = await converse(tmux, ({ last }, number) => {
      if (number === 1) return [{ call: "bash", args: { command: "touch one" } }];
      return last.includes("again")
        ? [{ call: "bash", args: { command: "touch one" } }]
        : `Answer ${number}.`;
    });
    await chat.say("run it");
    await chat.window.until("arrow or digit");
    await chat.window.press("3");
    await chat.window.until(/> 3 /);
    await chat.window.press("Enter");
    await chat.window.until("Allow from now on:");
    await chat.window.press("Enter");
    await chat.window.until("Answer 2.");
    await chat.say("again");
    const screen = await chat.window.until("Answer 4.");
    assert.doesNotMatch(screen, /Allow bash:/);
  });

  it("shows the change of a file before it is made", async () => {
    await using chat = await converse(tmux, (_, number) =>
      number === 1
        ? [{ call: "write", args: { path: "notes.md", content: "# Notes\n\nOne.\n" } }]
        : `Answer ${number}.`,
    );
    await chat.say("write notes");
    const screen = await chat.window.until("arrow or digit");
    assert.match(screen, /\+ ?# Notes/);
    await chat.window.press("Down");
    await chat.window.until(/> 2 Yes/);
    await chat.window.press("Enter");
    await chat.window.until("Answer 2.");
    assert.equal(await readFile(join(chat.folder, "notes.md"), "utf8"), "# Notes\n\nOne.\n");
  });
});
