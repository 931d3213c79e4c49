/** Hooks of `bowline run`: real programs, a model server on loopback. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chatText, loopback } from "../../../../test/support/loopback.ts";
import { bowline, temporary } from "../command.ts";
import { calls } from "../project/calls.ts";
import { endsWithin } from "../tools/processes.ts";

async function place() {
  const folder = await temporary();
  const root = join(folder.path, "project");
  const data = join(folder.path, "data");
  await mkdir(join(root, ".git"), { recursive: true });
  await mkdir(join(root, ".claude"));
  await mkdir(data);
  const env = { BOWLINE_HOME: data, HOME: folder.path, DEEPSEEK_API_KEY: "sk-0123456789abcdef" };
  return {
    root,
    file: (name: string) => readFile(join(root, name), "utf8"),
    write: (name: string, text: string) => writeFile(join(root, name), text),
    /** Writes the user's settings with one hook. */
    hook: (event: string, command: string, more: object = {}, settings: object = {}) =>
      writeFile(
        join(data, "bowline.json"),
        JSON.stringify({
          hooks: { [event]: [{ hooks: [{ type: "command", command, ...more }] }] },
          ...settings,
        }),
      ),
    run: (baseUrl: string, args: readonly string[]) =>
      bowline(["run", "--base-url", baseUrl, "--model", "m", ...args], { cwd: root, env }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

type Request = { readonly body: string };
const body = ({ requests }: { readonly requests: readonly Request[] }, at: number): string =>
  requests[at]?.body ?? "";
const touch = calls("bash", { command: "touch made" });

describe("PreToolUse", () => {
  it("blocks a call with exit code 2, also with --yes, and the model reads why", async () => {
    await using here = await place();
    await using model = await loopback(touch, chatText("Done."));
    await here.hook("PreToolUse", "echo 'Nothing is made here.' >&2; exit 2");
    const { stdout, stderr } = await here.run(model.baseUrl, ["-y", "make it"]);
    assert.equal(stdout, "Done.\n", stderr);
    assert.match(body(model, 1), /A hook refused the call: Nothing is made here\./);
    await assert.rejects(here.file("made"), { code: "ENOENT" });
  });

  it("does not block with exit code 1, and says so loudly, also as a line of the log", async () => {
    await using here = await place();
    await using model = await loopback(touch, chatText("Done."), touch, chatText("Done."));
    await here.hook("PreToolUse", "echo oops >&2; exit 1");
    const { stdout, stderr } = await here.run(model.baseUrl, ["-y", "-q", "make it"]);
    assert.equal(stdout, "Done.\n");
    assert.match(stderr, /HOOK FAILED: PreToolUse .*\(bowline\.json\).*exit code 1.*NOT blocked/);
    assert.equal(await here.file("made"), "");
    const log = await here.run(model.baseUrl, ["-y", "--json", "make it"]);
    const [line = "{}"] = log.stdout.split("\n").filter((one) => one.includes('"type":"hook"'));
    const { event, status, message } = JSON.parse(line) as Record<string, string>;
    assert.deepEqual([event, status], ["PreToolUse", "failed"]);
    assert.match(message ?? "", /exit code 1/);
  });

  it("gets Claude Code's names and fields, in the project's folder, without secrets", async () => {
    await using here = await place();
    const edit = calls("edit", { path: "a.txt", oldText: "one", newText: "two" });
    await using model = await loopback(edit, chatText("Done."));
    await here.write("a.txt", "one");
    const seen =
      'cat > seen.json; env > seen.env; pwd >> seen.env; echo "$CLAUDE_PROJECT_DIR" >> seen.env';
    await here.hook("PreToolUse", seen);
    await here.run(model.baseUrl, ["-y", "edit it"]);
    const {
      session_id: id,
      tool_use_id: call,
      ...given
    } = JSON.parse(await here.file("seen.json")) as Record<string, unknown>;
    assert.ok(id !== "" && call !== "");
    assert.deepEqual(given, {
      cwd: here.root,
      permission_mode: "bypassPermissions",
      hook_event_name: "PreToolUse",
      tool_name: "Edit",
      tool_input: {
        path: "a.txt",
        oldText: "one",
        newText: "two",
        file_path: join(here.root, "a.txt"),
        old_string: "one",
        new_string: "two",
      },
    });
    const env = await here.file("seen.env");
    assert.doesNotMatch(env, /DEEPSEEK_API_KEY|sk-0123/);
    assert.ok(env.endsWith(`${here.root}\n${here.root}\n`), env);
  });

  it("cannot allow what nobody allowed, and can ask about what a rule allows", async () => {
    await using here = await place();
    await using model = await loopback(touch, chatText("A."), touch, chatText("B."));
    const answer = (decision: string): string =>
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"${decision}"}}'`;
    await here.hook("PreToolUse", answer("allow"));
    await here.run(model.baseUrl, ["make it"]);
    assert.match(body(model, 1), /there is no terminal to ask on/);
    await here.hook("PreToolUse", answer("ask"), {}, { permissions: { allow: ["bash"] } });
    await here.run(model.baseUrl, ["make it"]);
    assert.match(body(model, 3), /there is no terminal to ask on/);
    await assert.rejects(here.file("made"), { code: "ENOENT" });
  });

  it("is ended with what it started at its time limit, which is told", async () => {
    await using here = await place();
    await using model = await loopback(touch, chatText("Done."));
    const command = "sleep 300 & echo $! > pid; wait";
    await here.hook("PreToolUse", command, { timeout: 3 });
    const { stderr, ms } = await here.run(model.baseUrl, ["-y", "make it"]);
    assert.ok(ms < 60_000);
    assert.match(stderr, /HOOK FAILED: PreToolUse.*stopped after its time limit of 3 s/);
    const pid = Number(await here.file("pid"));
    assert.ok(await endsWithin(pid, 20_000));
  });

  it("sees the calls of sub-agents, as PostToolUse sees their results", async () => {
    await using here = await place();
    await mkdir(join(here.root, ".claude/agents"));
    const agent = "---\nname: maker\ndescription: Makes.\n---\nMake.";
    await here.write(".claude/agents/maker.md", agent);
    const start = calls("agent", { name: "maker", task: "make it" });
    const two = [start, touch, chatText("No."), chatText("Done.")];
    await using model = await loopback(...two, ...two);
    const unless = (text: string): string =>
      `grep -q '"tool_name":"Agent"' || { echo ${text} >&2; exit 2; }`;
    await here.hook("PreToolUse", unless("Never."));
    const { stdout, stderr } = await here.run(model.baseUrl, ["-y", "--trust", "go"]);
    assert.equal(stdout, "Done.\n", stderr);
    assert.match(body(model, 2), /A hook refused the call: Never\./);
    await assert.rejects(here.file("made"), { code: "ENOENT" });
    await here.hook("PostToolUse", unless("Format."));
    await here.run(model.baseUrl, ["-y", "go"]);
    assert.match(body(model, 6), /\[hook\] Format\./);
    assert.equal(await here.file("made"), "");
  });
});

describe("PostToolUse", () => {
  it("adds what it says to the result, and gets the result", async () => {
    await using here = await place();
    await using model = await loopback(
      calls("bash", { command: "echo moored" }),
      chatText("Done."),
    );
    await here.hook("PostToolUse", "cat > seen.json; echo 'Format it.' >&2; exit 2");
    await here.run(model.baseUrl, ["-y", "go"]);
    assert.match(body(model, 1), /moored/);
    assert.match(body(model, 1), /\[hook\] Format it\./);
    const { tool_response: response } = JSON.parse(await here.file("seen.json")) as {
      tool_response: { text: string };
    };
    assert.match(response.text, /^moored/);
  });

  it("does not run after a call that failed", async () => {
    await using here = await place();
    await using model = await loopback(calls("bash", { command: "exit 3" }), chatText("Done."));
    await here.hook("PostToolUse", "touch ran");
    await here.run(model.baseUrl, ["-y", "go"]);
    await assert.rejects(here.file("ran"), { code: "ENOENT" });
  });
});

describe("UserPromptSubmit and SessionStart", () => {
  it("refuse the task, or add text to it and to the system prompt", async () => {
    await using here = await place();
    await using model = await loopback(chatText("Done."), chatText("Done."));
    await here.hook(
      "UserPromptSubmit",
      "grep -q secret && { echo 'No secrets.' >&2; exit 2; }; echo TIDE",
    );
    const refused = await here.run(model.baseUrl, ["the secret"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /hook UserPromptSubmit.*blocked it: No secrets\./);
    assert.equal(model.requests.length, 0);
    await here.run(model.baseUrl, ["the task"]);
    assert.match(body(model, 0), /the task\\n\\n\[context from a hook\]\\nTIDE/);
    await here.hook("SessionStart", "echo HARBOUR", {}, {});
    await here.run(model.baseUrl, ["the task"]);
    const { messages } = JSON.parse(body(model, 1)) as { messages: { content: string }[] };
    assert.match(messages[0]?.content ?? "", /HARBOUR/);
  });
});

describe("Stop", () => {
  it("lets the model go on until it is content, at most five times", async () => {
    await using here = await place();
    await using model = await loopback(...Array.from({ length: 8 }, () => chatText("Done.")));
    await here.hook(
      "Stop",
      "if grep -q '\"stop_hook_active\":true'; then exit 0; fi; echo 'Run the tests.' >&2; exit 2",
    );
    const once = await here.run(model.baseUrl, ["--output-format", "json", "go"]);
    assert.equal(model.requests.length, 2);
    assert.match(body(model, 1), /\[A hook does not let the run end yet\]\\nRun the tests\./);
    assert.equal(once.stdout.trim().split("\n").length, 1, "one object is the end");
    await here.hook("Stop", "echo 'Never.' >&2; exit 2");
    const { code } = await here.run(model.baseUrl, ["go"]);
    assert.deepEqual([code, model.requests.length], [0, 8]);
  });
});

describe("the hooks of .claude/settings.json", () => {
  it("run in a trusted folder; what cannot run as it is meant is left out and named", async () => {
    await using here = await place();
    await using model = await loopback(
      ...Array.from({ length: 3 }, () => [touch, chatText("Done.")]).flat(),
    );
    const guard = { type: "command", command: 'cat "$CLAUDE_PROJECT_DIR/reason" >&2; exit 2' };
    await here.write("reason", "By the project.");
    const settings = (more: object = {}): string =>
      JSON.stringify({
        hooks: {
          PreToolUse: [{ matcher: "Bash", hooks: [guard, { ...guard, if: "Bash(git *)" }] }],
          Notification: [{ hooks: [guard] }],
        },
        ...more,
      });
    await here.write(".claude/settings.json", settings());
    const untrusted = await here.run(model.baseUrl, ["-y", "go"]);
    assert.match(untrusted.stderr, /Not in effect: hooks\./);
    assert.equal(await here.file("made"), "");

    const trusted = await here.run(model.baseUrl, ["-y", "--trust", "go"]);
    assert.match(body(model, 3), /A hook refused the call: By the project\./);
    assert.match(trusted.stderr, /settings\.json:1: not run: A hook has no "if"\./);
    assert.match(trusted.stderr, /not run: Hooks for Notification do not run here/);

    // Claude Code writes permissions into this file, which have no effect here.
    await here.write(".claude/settings.json", settings({ permissions: { allow: ["Bash(ls)"] } }));
    const same = await here.run(model.baseUrl, ["-y", "go"]);
    assert.doesNotMatch(same.stderr, /changed since you trusted/);
    assert.match(body(model, 5), /By the project/);
  });
});
