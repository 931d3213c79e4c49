/** The slash commands. */
import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { createSession } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { replayLines } from "../../src/chat/replay-lines.ts";
import { colours } from "../../src/screen/colours.ts";
import { KEY, Talk } from "./converse.ts";

const usage = { input: 1000, output: 50 };

async function answered(text = "The answer."): Promise<Talk> {
  const talk = await Talk.begin([
    { content: [{ type: "text", text }], usage },
    { content: [{ type: "text", text: "Another." }], usage },
  ]);
  talk.send("ask");
  await talk.until(/cost unknown · [\d.]+ s/);
  await talk.idle();
  return talk;
}

test("/help lists each command and each key", async () => {
  await using talk = await Talk.begin([]);
  talk.send("/help");
  const shown = await talk.until(/@file/);
  for (const part of ["/compact", "/fork", "takes [all]", "Alt-Up", "Shift-Tab", "!!command"])
    assert.ok(shown.includes(part), part);
  assert.match(shown, /^> \/help$/m, "the line that was typed stands above");
  assert.match(shown, /^Keys:$/m);
  assert.doesNotMatch(shown, /\u241b/, "no escape sequence is shown");
});

test("/copy sends the answer to the clipboard and writes it to a file", async () => {
  await using talk = await answered("Copy me.");
  talk.send("/copy");
  await talk.until(/clipboard/);
  const sent = /^\u001b\]52;c;(.*)\u0007$/.exec(talk.controls[0] ?? "")?.[1] ?? "";
  assert.equal(Buffer.from(sent, "base64").toString(), "Copy me.");
  const file = join(talk.directory, "copied.md");
  assert.equal(await readFile(file, "utf8"), "Copy me.");
  assert.equal((await stat(file)).mode & 0o077, 0);
});

test("/export writes a private file, and never over an existing one", async () => {
  await using talk = await answered();
  talk.send("/export out.md");
  await talk.until(/The session is in/);
  const file = join(talk.directory, "out.md");
  assert.match(await readFile(file, "utf8"), /The answer\./);
  assert.equal((await stat(file)).mode & 0o077, 0);
  talk.send("/export out.md");
  await talk.until(/out\.md exists/);
});

test("/usage and /tools and /permissions and /context say what they know", async () => {
  await using talk = await answered();
  await writeFile(join(talk.directory, "AGENTS.md"), "Be brief.");
  for (const [command, pattern] of [
    ["/usage", /scripted\/scripted {2}1 request · 1\.0k in · 50 out · cost unknown/],
    ["/tools", /bash {3}can change things; not in plan mode/],
    ["/permissions", /allow {2}read {2}built in$/m],
    ["/tools", /bash {3}can change things; not in plan mode: Runs a command with bash\.$/m],
    ["/context", /Messages: 2, about/],
  ] as const) {
    talk.send(command);
    await talk.until(pattern);
  }
});

test("/permissions adds a rule for this session", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("bash", { command: "git log -1" })] },
    "done",
  ]);
  talk.send("/permissions allow bash(git log *)");
  await talk.until(/allow bash\(git log \*\), for this session/);
  talk.send("log");
  const shown = await talk.until(/done/);
  assert.doesNotMatch(shown, /asks to run/);
});

test("/new begins without the old messages, and keeps the old session", async () => {
  await using talk = await answered();
  const id = talk.conversation.session?.id ?? "";
  talk.send("/new");
  await talk.until(/A new conversation begins/);
  talk.send("again");
  await talk.until(/Another\./);
  await talk.idle();
  assert.equal(talk.model.calls[1]?.context.messages.length, 1);
  assert.notEqual(talk.conversation.session?.id, id);
  assert.equal((await talk.store.load(id)).id, id);
});

test("/fork goes on from before an earlier message, which comes back as the draft", async () => {
  await using talk = await answered();
  talk.send("second");
  await talk.until(/Another\./);
  await talk.idle();
  const id = talk.conversation.session?.id;
  talk.send("/fork");
  await talk.until(/Go on from before which message/);
  talk.type(KEY.enter);
  await talk.until(/This is a fork/);
  assert.equal(talk.editor.text(), "second");
  assert.equal(talk.conversation.runtime.agent.state.messages.length, 2);
  assert.notEqual(talk.conversation.session?.id, id);
});

test("a fork from after a plan says nothing of an ended process, and the draft has only what was typed", async () => {
  await using talk = await answered();
  talk.type(KEY.shiftTab);
  talk.send("second");
  await talk.until(/Another\./);
  await talk.idle();
  assert.match(
    messageText(talk.model.calls[1]?.context.messages.at(-1) as never),
    /Plan mode is on/,
  );
  talk.send("/fork");
  await talk.until(/Go on from before which message/);
  talk.type(KEY.enter);
  const shown = await talk.until(/This is a fork/);
  assert.equal(talk.editor.text(), "second");
  assert.doesNotMatch(shown, /did not end|process/);
});

test("/resume goes on with an earlier session of the folder", async () => {
  await using talk = await answered();
  const { store, directory } = talk;
  const other = await createSession(store, { id: "other", metadata: { cwd: directory } });
  await other.append({
    type: "message",
    message: { role: "user", content: "from before", timestamp: 0 },
  });
  await other.close();
  talk.send("/resume other");
  const shown = await talk.until(/Session other goes on here/);
  assert.match(shown, /> from before/);
});

test("/unfold shows the whole output of the last call", async () => {
  await using talk = await Talk.begin([
    { content: [scriptedToolCall("read", { path: "a.txt" })] },
    "done",
  ]);
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  await writeFile(join(talk.directory, "a.txt"), lines.join("\n"));
  talk.send("read");
  await talk.until(/done/);
  await talk.idle();
  assert.doesNotMatch(await talk.shown(), /line 7/);
  talk.type(KEY.ctrlO);
  await talk.until(/line 7/);
  assert.equal(talk.terminal.bufferType, "alternate");
  talk.type("q");
  await talk.until(() => talk.terminal.bufferType === "normal");
});

test("a command of the project becomes a message", async () => {
  await using talk = await Talk.begin(["reviewed"], { isReady: false });
  const folder = join(talk.directory, "commands");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "review.md"), "Review $ARGUMENTS closely.");
  await talk.ready();
  const { project } = talk.conversation.world;
  if (project.commands.length === 0) return; // the user's folder lies elsewhere
  talk.send("/review a.ts");
  const shown = await talk.until(/reviewed/);
  assert.match(shown, /> Review a\.ts closely\./);
});

test("a session is replayed at any width from the file alone, without a lost word", async () => {
  await using talk = await answered("word ".repeat(60).trim());
  const session = await talk.reopened();
  for (const columns of [20, 40, 120]) {
    const lines: string[] = [];
    const paint = colours({ isTTY: false, write: () => true }, {});
    const options = { colours: paint, columns: () => columns, linkStyle: "text" as const };
    for await (const line of replayLines(session, options)) lines.push(line);
    assert.ok(lines.every((line) => line.length <= columns));
    assert.equal(lines.join(" ").match(/\bword\b/g)?.length, 60);
  }
  await session.close();
});

test("a command's allowed-tools exclude other calls of its run, and of no later one", async () => {
  const looks = [
    { content: [scriptedToolCall("read", { path: "secret.md" })] },
    { content: [scriptedToolCall("read", { path: "open.md" })] },
    "Looked.",
    { content: [scriptedToolCall("read", { path: "secret.md" })] },
    "Looked again.",
  ];
  await using talk = await Talk.begin(looks, { isReady: false });
  const { directory } = talk;
  await mkdir(join(directory, "commands"));
  const command = "---\nallowed-tools: Read(open.md)\nmodel: other/model\n---\nLook around.\n";
  await writeFile(join(directory, "commands", "look.md"), command);
  await writeFile(join(directory, "secret.md"), "the secret");
  await writeFile(join(directory, "open.md"), "in the open");
  await talk.ready();
  talk.send("/look");
  const shown = await talk.until(/Looked\./);
  assert.match(shown, /This command may only use read\(open\.md\)\./);
  assert.match(shown, /names the model other\/model, which is not used/);
  await talk.idle();
  const results = (at: number): string =>
    JSON.stringify(talk.model.calls[at]?.context.messages.at(-1));
  assert.doesNotMatch(results(1), /the secret/);
  assert.match(results(2), /in the open/);
  talk.send("look for yourself");
  await talk.until(/Looked again\./);
  assert.match(results(4), /the secret/);
});
