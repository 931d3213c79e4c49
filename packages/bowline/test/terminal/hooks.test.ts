/** Hooks in a conversation, in a real terminal: real programs and a scripted vendor. */
import assert from "node:assert/strict";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";
import type { Play } from "./vendor.ts";

/** Returns a function that writes the user's settings, with hooks by event. */
const settings =
  (hooks: Readonly<Record<string, string>>, more: object = {}) =>
  async (folder: string): Promise<void> => {
    const data = join(folder, "../data");
    await mkdir(data, { recursive: true });
    const groups = Object.entries(hooks).map(([event, command]) => [
      event,
      [{ hooks: [{ type: "command", command }] }],
    ]);
    await writeFile(
      join(data, "bowline.json"),
      JSON.stringify({ hooks: Object.fromEntries(groups), ...more }),
    );
  };

/** Makes a file in the first answer, and answers the result. */
const touching: Play = ({ messages, last }) =>
  messages.at(-1)?.role === "tool"
    ? `It said: ${last}`
    : [{ call: "bash", args: { command: "touch made" } }];

describe("a conversation with hooks", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("does not run a call that a hook refuses, and shows a failed hook as an error", async () => {
    const prepare = settings({
      PreToolUse: "echo 'Not in this folder.' >&2; exit 2",
      UserPromptSubmit: "exit 1",
    });
    await using chat = await converse(tmux, touching, { prepare, args: ["--yes"] });
    await chat.say("make it");
    await chat.window.until(/HOOK FAILED: UserPromptSubmit "exit 1".*NOT/s);
    await chat.window.until(/A hook refused the call: Not in this folder\./);
    await assert.rejects(access(join(chat.folder, "made")), { code: "ENOENT" });
  });

  it("asks a person about an allowed call if a hook wants that, with its reason", async () => {
    const answer = { permissionDecision: "ask", permissionDecisionReason: "It is Friday." };
    const PreToolUse = `echo '${JSON.stringify({ hookSpecificOutput: answer })}'`;
    const prepare = settings({ PreToolUse }, { permissions: { allow: ["bash"] } });
    await using chat = await converse(tmux, touching, { prepare });
    await chat.say("make it");
    await chat.window.until(/Why it asks: A hook wants a person to decide: It is Friday\./);
    await assert.rejects(access(join(chat.folder, "made")), { code: "ENOENT" });
  });

  it("gives a refused message back to the draft, also one that is sent during a run", async () => {
    const prepare = settings({
      UserPromptSubmit: "grep -q secret && { echo 'No secrets.' >&2; exit 2; }; echo TIDE",
    });
    let go = (): void => {};
    const until = new Promise<void>((resolve) => (go = resolve));
    const play: Play = (_, number) => (number === 1 ? [{ text: "Wait. " }, { until }] : "Done.");
    await using chat = await converse(tmux, play, { prepare });
    await chat.say("my secret");
    await chat.window.until(/A hook refused the message, which was not sent: No secrets\./);
    await chat.window.until(/^> my secret$/m);
    assert.equal(chat.vendor.asked.length, 0);
    await chat.window.press("C-u");
    await chat.say("hello");
    const first = await chat.request(0);
    assert.match(first.last, /hello\n?\[context from a hook\]\nTIDE/);
    await chat.say("another secret");
    await chat.window.until(/^> another secret$/m);
    await chat.window.press("C-u");
    await chat.say("a fine one");
    await chat.window.until(/after this step: a fine one/);
    go();
    const second = await chat.request(1);
    assert.doesNotMatch(second.raw, /another secret/);
    assert.match(second.last, /a fine one/);
    await chat.idle();
  });

  it("goes on when a hook refuses the end, and starts with what a hook says", async () => {
    const prepare = settings({
      SessionStart: "echo HARBOUR",
      Stop: "grep -q '\"stop_hook_active\":true' || { echo 'Run the tests.' >&2; exit 2; }",
    });
    await using chat = await converse(tmux, (_, number) => `Answer ${number}.`, { prepare });
    await chat.say("hello");
    await chat.window.until(/Answer 2\./);
    await chat.idle();
    assert.match(chat.vendor.asked[0]?.messages[0]?.text ?? "", /HARBOUR/);
    assert.match(chat.vendor.asked[1]?.last ?? "", /does not let the run end yet\]\nRun the tests/);
    assert.equal(chat.vendor.asked.length, 2);
  });
});
