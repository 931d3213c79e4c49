/** Typing while the agent works. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deferred } from "../../../../test/support/deferred.ts";
import { converse, forever } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

describe("a message typed during a run", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("waits on its own line for the end of the step, and the answer before it is kept", async () => {
    const gate = deferred();
    await using chat = await converse(tmux, (_, number) =>
      number === 1
        ? [{ text: "The first half, " }, { until: gate.promise }, { text: "the second half." }]
        : "Steered.",
    );
    await chat.say("begin");
    await chat.window.until("The first half");
    await chat.say("use tabs");
    await chat.window.until(/after this step: use tabs/);
    assert.equal(chat.vendor.asked.length, 1);
    gate.resolve();
    const screen = await chat.window.until("Steered.");
    assert.match(screen, /The first half, the second half\.[^]*> use tabs[^]*Steered\./);
    const texts = chat.vendor.asked[1]?.messages.map(({ text }) => text) ?? [];
    assert.ok(texts.includes("The first half, the second half."), texts.join("\n"));
    assert.equal(texts.at(-1), "use tabs");
  });

  it("goes to the model with the result of the running tool", async () => {
    await using chat = await converse(
      tmux,
      (_, number) =>
        number === 1
          ? [
              {
                call: "bash",
                args: { command: "echo begun; while [ ! -e go ]; do sleep 0.05; done" },
              },
            ]
          : "Steered.",
      { args: ["--yes"] },
    );
    await chat.say("begin");
    await chat.window.until(/begun/);
    await chat.say("hurry up");
    await chat.window.until(/after this step: hurry up/);
    await import("node:fs/promises").then(({ writeFile }) => writeFile(`${chat.folder}/go`, ""));
    await chat.window.until("Steered.");
    const roles = chat.vendor.asked[1]?.messages.map(({ role }) => role).slice(-2);
    assert.deepEqual(roles, ["tool", "user"]);
    assert.equal(chat.vendor.asked[1]?.last, "hurry up");
  });

  it("waits for the end of the turn when it is queued with Alt-Enter", async () => {
    const gate = deferred();
    await using chat = await converse(tmux, (_, number) =>
      number === 1 ? [{ text: "Working" }, { until: gate.promise }] : `Answer ${number}.`,
    );
    await chat.say("begin");
    await chat.window.until("Working");
    await chat.window.type("then the docs");
    await chat.window.press("M-Enter");
    await chat.window.until(/after the turn: then the docs/);
    gate.resolve();
    await chat.window.until("Answer 2.");
    assert.equal(chat.vendor.asked[1]?.last, "then the docs");
  });

  it("is taken back one by one with Alt-Up, edited, and sent as edited", async () => {
    const gate = deferred();
    await using chat = await converse(tmux, (_, number) =>
      number === 1 ? [{ text: "Working" }, { until: gate.promise }] : `Answer ${number}.`,
    );
    await chat.say("begin");
    await chat.window.until("Working");
    await chat.say("first");
    await chat.say("secnd");
    await chat.window.until(/after this step: secnd/);
    await chat.window.press("M-Up");
    await chat.window.untilNot(/after this step: secnd/);
    await chat.window.press("BSpace", "BSpace", "BSpace");
    await chat.window.type("cond");
    await chat.window.press("Enter");
    await chat.window.until(/after this step: first\n.*after this step: second/);
    gate.resolve();
    await chat.window.until("Answer 2.");
    await chat.idle();
    const texts = chat.vendor.asked.flatMap(({ messages }) => messages.map(({ text }) => text));
    assert.ok(texts.some((text) => text.includes("second")));
    assert.ok(!texts.some((text) => text.includes("secnd")));
  });

  it("is removed when it is taken back and cleared", async () => {
    const gate = deferred();
    await using chat = await converse(tmux, (_, number) =>
      number === 1 ? [{ text: "Working" }, { until: gate.promise }] : `Answer ${number}.`,
    );
    await chat.say("begin");
    await chat.window.until("Working");
    await chat.say("never mind");
    await chat.window.until(/after this step: never mind/);
    await chat.window.press("M-Up");
    await chat.window.untilNot(/after this step/);
    await chat.window.press("C-u");
    gate.resolve();
    await chat.idle();
    assert.equal(chat.vendor.asked.length, 1);
  });

  it("comes back to the draft when the run is interrupted", async () => {
    await using chat = await converse(tmux, () => [{ text: "Working" }, { until: forever }]);
    await chat.say("begin");
    await chat.window.until("Working");
    await chat.say("and this");
    await chat.window.until(/after this step: and this/);
    await chat.window.press("Escape");
    const screen = await chat.window.until(/^interrupted/m);
    assert.match(screen, /and this/);
    assert.doesNotMatch(screen, /after this step/);
    assert.equal(chat.vendor.asked.length, 1);
  });
});
