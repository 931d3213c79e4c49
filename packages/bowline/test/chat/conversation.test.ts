/** The conversation on a terminal, with a scripted model. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { KEY, Talk } from "./converse.ts";

const usage = { input: 1000, output: 50 };

test("streams an answer into the scrollback and shows a line for its request", async () => {
  await using talk = await Talk.begin([
    { content: [{ type: "text", text: "Hello there." }], usage },
  ]);
  talk.send("hi");
  await talk.until(/cost unknown · [\d.]+ s/);
  const shown = await talk.idle();
  assert.match(shown, /^> hi$/m);
  assert.match(shown, /^Hello there\.$/m);
  assert.match(shown, /scripted\/scripted · 1\.0k in · 50 out · cost unknown/);
  assert.match(shown, /scripted\/scripted · context 1% · cost unknown/);
});

test("steers on Enter and queues on Alt-Enter, and keeps the partial answer", async () => {
  const first = "one two three four five six seven eight nine ten ".repeat(4);
  await using talk = await Talk.begin([first, "after the step", "after the turn"], {
    deltaLength: 4,
    delayMs: 5,
  });
  talk.send("begin");
  await talk.until(/one two/);
  talk.send("steered");
  talk.type("queued");
  talk.type(KEY.altEnter);
  const waiting = await talk.until(/after the turn: queued/);
  assert.match(waiting, /after this step: steered/);
  assert.match(waiting, /queue 2/);
  const shown = await talk.until(/> queued\n\nafter the turn\n/);
  assert.ok(shown.indexOf("nine ten") < shown.indexOf("> steered"));
  assert.ok(shown.indexOf("> steered") < shown.indexOf("> queued"));
  const texts = (talk.model.calls[1]?.context.messages ?? []).map(messageText);
  assert.deepEqual(texts, ["begin", first, "steered"]);
});

test("gives queued messages back to the draft at an interrupt, and sends none", async () => {
  await using talk = await Talk.begin(["word ".repeat(200)], { deltaLength: 5, delayMs: 5 });
  talk.send("begin");
  await talk.until(/word word/);
  talk.send("first");
  talk.type("second");
  talk.type(KEY.altEnter);
  talk.type("typed");
  await talk.until(/queue 2/);
  talk.type(KEY.escape);
  await talk.until(/interrupted/);
  await talk.idle();
  assert.equal(talk.editor.text(), "first\nsecond\ntyped");
  assert.equal(talk.model.calls.length, 1);
  assert.equal(talk.conversation.state.queue.length, 0);
});

test("takes queued messages back into the draft one by one with Alt-Up", async () => {
  await using talk = await Talk.begin(["word ".repeat(100), "answer"], {
    deltaLength: 5,
    delayMs: 5,
  });
  talk.send("begin");
  await talk.until(/word word/);
  talk.send("first");
  talk.send("second");
  await talk.until(/queue 2/);
  talk.type(KEY.altUp);
  await talk.until(/queue 1/);
  assert.equal(talk.editor.text(), "second");
  const shown = await talk.until(/answer/);
  assert.match(shown, /> first/);
  await talk.idle();
  assert.equal(talk.editor.text(), "second");
});

test("says that an interrupted command was killed, and tells the model", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("bash", { command: "echo started; sleep 60" })] },
    "gone on",
  ]);
  talk.send("sleep");
  await talk.until(/1 No/);
  talk.pause();
  talk.type("2");
  talk.pause(50);
  talk.type(KEY.enter);
  await talk.until(/^ {2}started/m);
  talk.type(KEY.escape);
  const shown = await talk.until(/interrupted;/);
  assert.match(shown, /killed after [\d.]+ m?s/);
  await talk.idle();
  talk.send("go on");
  await talk.until(/gone on/);
  const told = talk.model.calls[1]?.context.messages.find(({ role }) => role === "toolResult");
  assert.match(told === undefined ? "" : messageText(told), /stopped after[^]*started/);
});

test("prose typed at a question goes to the draft and answers nothing", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("bash", { command: "touch ran" })] },
    "denied",
  ]);
  talk.send("touch");
  await talk.until(/1 No/);
  talk.type("yes 2 y 1");
  await talk.shown();
  assert.equal(talk.editor.text(), "yes 2 y 1");
  assert.equal(talk.conversation.state.asked.length, 1);
  talk.pause(100);
  talk.type(KEY.enter); // sends the draft, as always during a run
  await talk.until(/after this step: yes 2 y 1/);
  assert.equal(talk.conversation.state.asked.length, 1);
  await assert.rejects(readFile(join(talk.directory, "ran")));
});

test("records who answered a question, with which keys and after how long", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("bash", { command: "touch ran" })] },
    "done",
  ]);
  talk.send("touch");
  await talk.until(/1 No/);
  talk.pause(3000);
  talk.type(KEY.down);
  talk.pause(50);
  talk.type(KEY.enter);
  const shown = await talk.until(/done/);
  assert.match(shown, /bash allowed by terminal \(arrow, Enter; after 3\.\d s\)/);
  await readFile(join(talk.directory, "ran"));
  await talk.idle();
  const entries = (await talk.conversation.session?.path()) ?? [];
  const answer = entries.find(({ type }) => type === "approval_answer");
  assert.match(String((answer as { by?: string } | undefined)?.by), /arrow, Enter; after 3\.\d s/);
});

test("saves an edited rule for the scope that the person chose", async () => {
  const call = { content: [scriptedToolCall("bash", { command: "git log -1" })] };
  await using talk = await Talk.begin([call, call, "done"]);
  talk.send("log");
  await talk.until(/3 Yes, and allow/);
  talk.pause();
  talk.type("3");
  talk.pause(50);
  talk.type(KEY.enter);
  await talk.until(/Allow from now on: /);
  talk.type("\u007f".repeat(40));
  talk.type("bash(ls)");
  await talk.until(/bash\(ls\)_[^]*edited: it allows every call that it covers/);
  talk.type(KEY.enter);
  await talk.until(/The rule does not allow this call/);
  talk.type("\u007f".repeat(40));
  talk.type("bash(git log *)");
  talk.type(KEY.enter);
  const shown = await talk.until(/done/);
  assert.match(shown, /allowed from now on, for this session: bash\(git log \*\)/);
  assert.equal(shown.match(/asks to run/g)?.length, 1);
});

test("tells the model the words of a denial", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("bash", { command: "touch ran" })] },
    "understood",
  ]);
  talk.send("touch");
  await talk.until(/1 No/);
  talk.type("use another name");
  await talk.until(/No, and tell the model/);
  talk.pause();
  for (let count = 0; count < 5; count++) talk.type(KEY.down);
  talk.pause(50);
  talk.type(KEY.enter);
  await talk.until(/understood/);
  const told = talk.model.calls[1]?.context.messages.find(({ role }) => role === "toolResult");
  assert.match(told === undefined ? "" : messageText(told), /use another name/);
  assert.equal(talk.editor.text(), "");
});

test("shows the change of a file before it is approved and after", async () => {
  await using talk = await Talk.begin([
    {
      content: [scriptedToolCall("edit", { path: "a.txt", oldText: "hello", newText: "goodbye" })],
    },
    "done",
  ]);
  await writeFile(join(talk.directory, "a.txt"), "hello\n");
  talk.send("edit");
  const asked = await talk.until(/1 No/);
  assert.match(asked, /1 - hello[^]*1 \+ goodbye/);
  assert.equal(await readFile(join(talk.directory, "a.txt"), "utf8"), "hello\n");
  talk.pause();
  talk.type(KEY.down);
  talk.pause(50);
  talk.type(KEY.enter);
  const shown = await talk.until(/done/);
  assert.equal(shown.match(/\+ goodbye/g)?.length, 2);
});

test("runs only reading tools in plan mode, and tells the model why", async () => {
  await using talk = await Talk.begin([
    {
      content: [
        scriptedToolCall("bash", { command: "touch ran" }),
        scriptedToolCall("read", { path: "a.txt" }),
      ],
    },
    "my plan",
  ]);
  await writeFile(join(talk.directory, "a.txt"), "hello\n");
  talk.type(KEY.shiftTab);
  await talk.until(/Plan mode is on/);
  talk.send("change it");
  const shown = await talk.until(/my plan/);
  assert.doesNotMatch(shown, /1 No/);
  const results = talk.model.calls[1]?.context.messages.filter(({ role }) => role === "toolResult");
  const texts = (results ?? []).map(messageText);
  assert.ok(texts.some((text) => /Plan mode: propose, do not change/.test(text)));
  assert.ok(texts.some((text) => /hello/.test(text)));
  assert.match(shown, /^plan · /m);
  await talk.idle();
});

test("refuses an unknown command with the nearest name and sends nothing", async () => {
  await using talk = await Talk.begin(["no"]);
  talk.send("/modle");
  const shown = await talk.until(/There is no command/);
  assert.match(shown, /Did you mean \/model\?/);
  assert.equal(talk.editor.text(), "/modle");
  assert.equal(talk.model.calls.length, 0);
});

test("puts a cleared draft into the history and leaves after a second Ctrl-C", async () => {
  await using talk = await Talk.begin([]);
  talk.type("a draft");
  await talk.until(/> a draft/);
  talk.type(KEY.ctrlC);
  await talk.until(/in the history/);
  assert.equal(talk.editor.text(), "");
  assert.equal(talk.hasLeft, false);
  talk.type(KEY.up);
  await talk.until(/> a draft/);
  talk.type(KEY.ctrlC);
  talk.type(KEY.ctrlC);
  await talk.until(/Ctrl-C again leaves/);
  assert.equal(talk.hasLeft, false);
  talk.type(KEY.ctrlC);
  await talk.until(() => talk.hasLeft);
});

test("does not leave on Ctrl-D while a run works or with a draft", async () => {
  await using talk = await Talk.begin(["word ".repeat(100)], { deltaLength: 5, delayMs: 5 });
  talk.send("begin");
  await talk.until(/word word/);
  talk.type(KEY.ctrlD);
  await talk.until(/Something still works/);
  assert.equal(talk.hasLeft, false);
  talk.type(KEY.escape);
  await talk.until(/interrupted/);
  await talk.idle();
  talk.type("draft");
  talk.type(KEY.ctrlD);
  await talk.shown();
  assert.equal(talk.hasLeft, false);
  talk.type(KEY.ctrlC);
  talk.type(KEY.ctrlD);
  await talk.until(() => talk.hasLeft);
});

test("Esc with a menu open closes the menu and interrupts nothing", async () => {
  await using talk = await Talk.begin(["word ".repeat(100)], { deltaLength: 5, delayMs: 10 });
  talk.send("begin");
  await talk.until(/word word/);
  talk.type("/co");
  await talk.until(/compact/);
  talk.type(KEY.escape);
  await talk.until(() => !talk.editor.isMenuOpen);
  assert.equal(talk.conversation.state.phase, "working");
  talk.type(KEY.escape);
  await talk.until(/interrupted/);
});

test("draws the past of a session by the same lines", async () => {
  const script = [
    { content: [scriptedToolCall("read", { path: "a.txt" })], usage },
    { content: [{ type: "text" as const, text: "It says **hello**." }], usage },
  ];
  await using talk = await Talk.begin(script);
  await writeFile(join(talk.directory, "a.txt"), "hello\n");
  talk.send("read it");
  await talk.until(/It says/);
  const before = (await talk.idle()).split("\n").filter((line) => !/ s$| ms/.test(line));
  const { store } = talk;
  const session = await talk.reopened();
  await using again = await Talk.begin([], { store, session });
  const after = (await again.until(/goes on here/)).split("\n");
  for (const line of before.filter((one) => one !== "" && !/^>$|context/.test(one)))
    assert.ok(after.includes(line), `${line} is missing in\n${after.join("\n")}`);
});

test("runs a line of the shell and gives its output to the model", async () => {
  await using talk = await Talk.begin(["seen"]);
  talk.send("!echo from the shell");
  await talk.until(/exit code 0/);
  talk.send("!!echo hidden");
  await talk.until(/not shown to the model/);
  talk.send("what was it?");
  await talk.until(/seen/);
  const texts = talk.model.calls[0]?.context.messages.map(messageText).join("\n") ?? "";
  assert.match(
    texts,
    /I ran this command myself:\n\$ echo from the shell\nfrom the shell\n\[exit code 0\]/,
  );
  assert.doesNotMatch(texts, /hidden/);
});

test("keeps messages that were typed before the model was found", async () => {
  await using talk = await Talk.begin(["found"], { isReady: false });
  talk.send("early");
  await talk.until(/as soon as it can be sent/);
  await talk.ready();
  const shown = await talk.until(/found$/m);
  assert.match(shown, /^> early$/m);
});

test("answers questions by numbers on a plain screen, and never by prose", async () => {
  await using talk = await Talk.begin(
    [{ content: [scriptedToolCall("bash", { command: "touch ran" })] }, "done"],
    { isPlain: true },
  );
  talk.type("touch\n");
  await talk.until(/Type a number and Enter/);
  talk.type("2\n");
  await talk.until(/has only just appeared/);
  await assert.rejects(readFile(join(talk.directory, "ran")));
  talk.pause();
  talk.type("yes\n");
  await talk.until(/Nothing was answered: type a number/);
  await assert.rejects(readFile(join(talk.directory, "ran")));
  talk.type("2\n");
  await talk.until(/done/);
  await readFile(join(talk.directory, "ran"));
  assert.doesNotMatch(talk.terminal.bytes, /\u001b/);
});
