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
    // Each message has a request of its own.
    await chat.window.until("Answer 3.");
    const texts = chat.vendor.asked.flatMap(({ messages }) => messages.map(({ text }) => text));
    assert.ok(texts.some((text) => text.includes("second")));
    assert.ok(!texts.some((text) => text.includes("secnd")));
  });

  for (const columns of [100, 40])
    it(`is edited and removed alone, while the draft in progress waits, at ${columns} columns`, async () => {
      const gate = deferred();
      await using chat = await converse(
        tmux,
        (_, number) =>
          number === 1 ? [{ text: "Working" }, { until: gate.promise }] : `Answer ${number}.`,
        { columns },
      );
      await chat.say("begin");
      await chat.window.until("Working");
      for (const text of ["first", "secnd", "third"]) {
        await chat.say(text);
        await chat.window.until(`after this step: ${text}`);
      }
      await chat.window.type("my draft");
      await chat.window.press("M-Up", "M-Up");
      await chat.window.until(
        /2\. \(in the draft, after this step\)\n.*3\. after this step: third/,
      );
      await chat.window.until("your draft waits: my draft");
      await chat.window.press("BSpace", "BSpace", "BSpace");
      await chat.window.type("cond");
      await chat.window.press("M-Down");
      await chat.window.until(/2\. after this step: second\n.*3\. \(in the draft/);
      await chat.window.press("C-x");
      const screen = await chat.window.until(/Message 3 is removed/);
      assert.match(screen, /1\. after this step: first\n.*2\. after this step: second\n/);
      assert.match(screen, /^> my draft/m);
      gate.resolve();
      await chat.window.until("Answer 3.");
      const texts = chat.vendor.asked
        .at(-1)
        ?.messages.flatMap(({ role, text }) => (role === "user" ? [text] : []));
      assert.deepEqual(texts, ["begin", "first", "second"]);
      await chat.window.until(/^> my draft/m);
    });

  it("is not edited once the run has taken it, and the screen says so", async () => {
    const gate = deferred();
    await using chat = await converse(tmux, (_, number) =>
      number === 1
        ? [{ text: "Working" }, { until: gate.promise }]
        : [{ text: "On it" }, { until: forever }],
    );
    await chat.say("begin");
    await chat.window.until("Working");
    await chat.say("too late");
    await chat.window.until("1. after this step: too late");
    gate.resolve();
    await chat.window.until("On it");
    await chat.say("/queue edit 1 never mind");
    await chat.window.until("Message 1 waits no more: it was sent or removed.");
    await chat.window.until(/^> never mind/m); // what was typed is not lost
  });

  it("is in the draft of the next process if it was edited when kill -9 came, as is the draft that waited", async () => {
    await using first = await converse(tmux, () => [{ text: "Working" }, { until: forever }]);
    await first.say("begin");
    await first.window.until("Working");
    for (const text of ["one", "two"]) {
      await first.say(text);
      await first.window.until(`after this step: ${text}`);
    }
    await first.window.type("mine");
    await first.window.press("M-Up");
    await first.window.until("your draft waits: mine");
    await first.window.type(" changed");
    await first.window.until("two changed");
    await new Promise((resolve) => setTimeout(resolve, 400));
    process.kill(await first.window.pid(), "SIGKILL");
    await first.window.exit();
    await using second = await converse(tmux, () => "", { after: first, args: ["--continue"] });
    const screen = await second.window.until(/two changed\n +mine/);
    await second.window.until(/[> ] one$/m);
    assert.equal(screen.split("two").length, 2, screen);
  });

  it("is listed, edited and removed by number on a terminal that only appends", async () => {
    const gate = deferred();
    await using chat = await converse(
      tmux,
      (_, number) =>
        number === 1 ? [{ text: "Working\n" }, { until: gate.promise }] : `Answer ${number}.`,
      { env: { TERM: "dumb" } },
    );
    await chat.say("begin");
    await chat.request(0);
    for (const [index, text] of ["first", "secnd", "third"].entries()) {
      await chat.say(text);
      await chat.window.until(`Queued as ${index + 1}, after this step.`);
    }
    await chat.say("/queue edit 2");
    await chat.window.until("Type its new text and Enter.");
    await chat.say("second");
    await chat.window.until("Message 2 is changed.");
    await chat.say("/queue remove 1");
    await chat.window.until("Removed 1. after this step: first");
    await chat.say("/queue turn 2");
    await chat.window.until("It is sent after the turn.");
    await chat.say("/queue");
    await chat.window.until(/3\. after this step: third\n2\. after the turn: second/);
    gate.resolve();
    await chat.window.until("Answer 3.");
    const { messages = [] } = chat.vendor.asked.at(-1) ?? {};
    const texts = messages.flatMap(({ role, text }) => (role === "user" ? [text] : []));
    assert.deepEqual(texts, ["begin", "third", "second"]);
    assert.doesNotMatch(await chat.window.bytes(), /\u001b/);
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
