/** What a project and the options change in `bowline run`: the real command and a model server. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Loopback,
} from "../../../../test/support/loopback.ts";
import { bowline, temporary, type Ended } from "../command.ts";
import { calls } from "./calls.ts";

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly data: string;
  run(...args: readonly string[]): Promise<Ended>;
}

async function place(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const folder = await temporary();
  const [path, home] = [join(folder.path, "project"), join(folder.path, "home")];
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
  const env = { HOME: home, BOWLINE_HOME: join(home, "data") };
  return {
    path,
    data: env.BOWLINE_HOME,
    run: (...args) => bowline(args, { cwd: path, env }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const body = ({ requests }: Loopback, at = 0): Body =>
  JSON.parse(requests[at]?.body ?? "{}") as Body;
const toolsOf = ({ tools = [] }: Body): string[] => tools.map((tool) => tool.function.name);
const promptOf = ({ messages }: Body): string => messages[0]?.content ?? "";

const reviewer = `---
name: reviewer
description: Reviews: changes
tools: Read, Bash(git status)
maxTurns: 3
---
You are the REVIEWER.`;

describe("bowline run with a project", () => {
  it("gives a task to a sub-agent with its own prompt and a part of the tools", async () => {
    await using here = await place({
      ".claude/agents/reviewer.md": reviewer,
      "a.txt": "text of a",
    });
    await using server = await loopback(
      calls("agent", { name: "reviewer", task: "Look." }),
      calls("bash", { command: "touch ran" }),
      chatText("It is fine."),
      chatText("Done."),
    );
    const ended = await here.run(
      "run",
      "--trust",
      "-y",
      "--base-url",
      server.baseUrl,
      "-m",
      "m",
      "Go",
    );
    assert.equal(ended.stdout, "Done.\n", ended.stderr);
    assert.ok(toolsOf(body(server)).includes("agent"));
    const nested = body(server, 1);
    assert.match(promptOf(nested), /^You are the REVIEWER\.\n\n<environment>/);
    assert.deepEqual(toolsOf(nested), ["read", "bash"]);
    assert.equal(nested.messages.at(-1)?.content, "Look.");
    assert.match(
      JSON.stringify(body(server, 2)),
      /This agent may only use read, bash\(git status\)/,
    );
    assert.match(JSON.stringify(body(server, 3)), /It is fine\./);
  });

  it("asks about a sub-agent's calls as about its own", async () => {
    const writer = "---\nname: writer\ndescription: Writes\n---\nWrite.";
    await using here = await place({ ".bowline/agents/writer.md": writer });
    await using server = await loopback(
      calls("agent", { name: "writer", task: "Write." }),
      calls("write", { path: "x.txt", content: "x" }),
      chatText("Not written."),
      chatText("Done."),
    );
    const ended = await here.run("run", "--trust", "--base-url", server.baseUrl, "-m", "m", "Go");
    assert.equal(ended.stdout, "Done.\n", ended.stderr);
    assert.match(JSON.stringify(body(server, 2)), /Denied: there is no terminal/);
  });

  it("takes the settings of the user, which options override", async () => {
    await using here = await place();
    await using server = await loopback(chatText("Done."));
    await mkdir(here.data, { recursive: true });
    const settings = {
      baseUrl: server.baseUrl,
      model: "own-model",
      excludeTools: ["bash"],
      appendSystem: "FROM SETTINGS",
    };
    await writeFile(join(here.data, "bowline.json"), JSON.stringify(settings));
    const plain = await here.run("-p", "Go");
    assert.equal(plain.stdout, "Done.\n", plain.stderr);
    assert.equal(body(server).model, "own-model");
    assert.deepEqual(toolsOf(body(server)), ["read", "write", "edit", "grep", "glob"]);
    await here.run(
      "-p",
      "-m",
      "other",
      "--tools",
      "read,grep",
      "--system",
      "OWN",
      "--append-system",
      "END",
      "Go",
    );
    assert.equal(body(server, 1).model, "other");
    assert.deepEqual(toolsOf(body(server, 1)), ["read", "grep"]);
    assert.match(promptOf(body(server, 1)), /^OWN\n[^]*FROM SETTINGS\n\nEND$/);
  });

  it("reports broken settings with file, line and column", async () => {
    await using here = await place();
    await mkdir(here.data, { recursive: true });
    await writeFile(join(here.data, "bowline.json"), '{\n  "modle": "x"\n}\n');
    const ended = await here.run("run", "Go");
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr,
      /bowline\.json:2:3: There is no setting "modle"\. Did you mean "model"\?\n$/,
    );
  });
});

describe("the output of bowline run", () => {
  it("is one object with --output-format json", async () => {
    await using here = await place();
    const choice = { index: 0, delta: { content: "Done." }, finish_reason: "stop" };
    await using server = await loopback(
      streamed({ choices: [choice], usage: { prompt_tokens: 10, completion_tokens: 5 } }, "[DONE]"),
    );
    const ended = await here.run(
      "run",
      "--output-format",
      "json",
      "--base-url",
      server.baseUrl,
      "-m",
      "m",
      "Go",
    );
    const { session, usage, ...result } = JSON.parse(ended.stdout) as Record<string, unknown>;
    assert.match(String(session), /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      [(usage as { input: number }).input, (usage as { output: number }).output],
      [10, 5],
    );
    assert.deepEqual(result, {
      type: "result",
      text: "Done.",
      reason: "done",
      turns: 1,
      toolCalls: 0,
      cost: null,
    });
  });

  it("is an object with the error, and the exit code of a failure, when a run fails", async () => {
    await using here = await place();
    await using server = await loopback(failing(400, { error: { message: "no such thing" } }));
    const ended = await here.run(
      "run",
      "--output-format",
      "json",
      "--base-url",
      server.baseUrl,
      "-m",
      "m",
      "Go",
    );
    const { reason, error } = JSON.parse(ended.stdout) as {
      reason: string;
      error: { message: string };
    };
    assert.deepEqual([ended.code, reason], [1, "error"]);
    assert.match(error.message, /no such thing/);
    assert.match(ended.stderr, /no such thing/);
  });

  it("is only the answer with --quiet, and errors on standard error", async () => {
    await using here = await place({ "bowline.json": "{}" });
    await using server = await loopback(
      chatText("Done."),
      failing(400, { error: { message: "no such thing" } }),
    );
    const at = ["--base-url", server.baseUrl, "-m", "m"];
    const ended = await here.run("run", "-q", ...at, "Go");
    assert.deepEqual([ended.stdout, ended.stderr, ended.code], ["Done.\n", "", 0]);
    const failed = await here.run("run", "-q", ...at, "Go");
    assert.match(failed.stderr, /^bowline: [^\n]*no such thing[^\n]*\n$/);
  });

  it("is the event log with stream-json, as with --json", async () => {
    await using here = await place();
    await using server = await loopback(chatText("Done."));
    const { stdout } = await here.run(
      "run",
      "--output-format",
      "stream-json",
      "--base-url",
      server.baseUrl,
      "-m",
      "m",
      "Go",
    );
    const types = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    assert.deepEqual([types[0], types.at(-1)], ["session", "agent_end"]);
  });
});

describe("--resume", () => {
  it("continues the latest session without an id, and a session by its id", async () => {
    await using here = await place();
    await using server = await loopback(chatText("Done."));
    const at = ["--base-url", server.baseUrl, "-m", "m"];
    const first = await here.run("run", ...at, "First task");
    const id = /session ([0-9a-f-]{36})/.exec(first.stderr)?.[1] ?? "";
    for (const more of [
      ["--resume", "Second task"],
      [`--resume=${id.slice(0, 8)}`, "Third"],
      ["-r", id, "Fourth"],
    ]) {
      const ended = await here.run("run", ...at, ...more);
      assert.equal(ended.stdout, "Done.\n", ended.stderr);
      assert.match(server.requests.at(-1)?.body ?? "", /First task/);
    }
    const unknown = await here.run("run", ...at, "--resume", "nothing", "Go on");
    assert.deepEqual([unknown.code, server.requests.length], [1, 4]);
  });
});

describe("a misspelt option", () => {
  for (const [args, message] of [
    [
      ["run", "--modle", "x", "Go"],
      /Unknown option '--modle'\. Did you mean --model\? See bowline run --help\.\n$/,
    ],
    [["sessions", "--jsno"], /Did you mean --json\? See bowline sessions --help/],
    [
      ["run", "--output-format", "jsn", "Go"],
      /takes one of text, json, stream-json\. Did you mean "json"\?/,
    ],
    [
      ["run", "--tools", "raed", "--model", "practice", "Go"],
      /There is no tool "raed"\. Did you mean "read"\?/,
    ],
    [["run", "--xyzzyx", "Go"], /Unknown option '--xyzzyx'\. See bowline run --help/],
  ] as const)
    it(`gets a hint: ${args.join(" ")}`, async () => {
      const { code, stderr } = await bowline(args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
});
