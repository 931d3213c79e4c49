/** Ctrl-Z and fg in each state of a conversation. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deferred } from "../../../../test/support/deferred.ts";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux, type Window } from "./tmux.ts";

describe("Ctrl-Z, then fg", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  /** The shell has the terminal in between, and works as usual. */
  async function suspend(window: Window, between: () => void = () => {}): Promise<void> {
    await window.press("C-z");
    await window.until(/Stopped[^]*shell>/);
    await window.type("echo the shell is here");
    await window.press("Enter");
    await window.until(/^the shell is here$/m);
    assert.equal((await window.cursor()).isVisible, true);
    between();
    await window.type("fg");
    await window.press("Enter");
  }

  it("keeps the draft when idle", async () => {
    await using chat = await converse(tmux, () => "Fine.", { isInShell: true });
    await chat.window.type("half a thou");
    await chat.window.until("half a thou");
    await suspend(chat.window);
    await chat.window.until(/the shell is here[^]*half a thou/);
    await chat.window.type("ght");
    await chat.window.press("Enter");
    await chat.window.until("Fine.");
    assert.equal(chat.vendor.asked[0]?.last, "half a thought");
  });

  it("continues an answer that was being streamed, without losing text", async () => {
    const gate = deferred();
    await using chat = await converse(
      tmux,
      () => [{ text: "one two " }, { until: gate.promise }, { text: "three four.\n" }],
      { isInShell: true },
    );
    await chat.say("count");
    await chat.window.until("one two");
    await suspend(chat.window, gate.resolve);
    await chat.window.until(/one two three four\./);
    await chat.idle();
  });

  it("continues with a running command", async () => {
    await using chat = await converse(
      tmux,
      (_, number) =>
        number === 1
          ? [{ call: "bash", args: { command: "echo begun; sleep 1; echo ended" } }]
          : "All done.",
      { isInShell: true, args: ["--yes"] },
    );
    await chat.say("run it");
    await chat.window.until("begun");
    await suspend(chat.window);
    await chat.window.until("All done.");
    assert.match(chat.vendor.asked[1]?.last ?? "", /begun\nended/);
  });

  it("shows an open question again, which can then be answered", async () => {
    await using chat = await converse(
      tmux,
      (_, number) =>
        number === 1 ? [{ call: "bash", args: { command: "echo it ran" } }] : `Answer ${number}.`,
      { isInShell: true },
    );
    await chat.say("run it");
    await chat.window.until("arrow or digit");
    await suspend(chat.window);
    await chat.window.until(/the shell is here[^]*Allow bash:[^]*arrow or digit/);
    await chat.window.press("Down");
    await chat.window.until(/> 2 Yes/);
    await chat.window.press("Enter");
    await chat.window.until("Answer 2.");
    assert.match(chat.vendor.asked[1]?.last ?? "", /it ran/);
  });

  it("leaves the terminal as it was when the conversation ends", async () => {
    await using chat = await converse(tmux, () => "Fine.", { isInShell: true });
    await suspend(chat.window);
    await chat.window.until(/the shell is here[^]*thinker/);
    await chat.window.press("C-d");
    await chat.window.until(/shell>$/);
    await chat.window.type("stty -a | grep -o ' -\\?echo '");
    await chat.window.press("Enter");
    await chat.window.until(/^ echo$/m);
  });
});
