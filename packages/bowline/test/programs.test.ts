/** Runs the unchanged programs in examples/programs against a loopback model server. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../../../test/support/free-ports.ts";
import { loopback, streamed, type Handler } from "../../../test/support/loopback.ts";
import { startProgram } from "../../../test/support/start-program.ts";
import { eventually } from "../../../test/support/within.ts";

const root = join(import.meta.dirname, "../../..");
const options = ["--conditions=@bowline/source", "--disable-warning=ExperimentalWarning"];

/** A temporary folder with one of the programs. */
async function folderWith(program: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "bowline-program-")));
  await copyFile(join(root, "examples/programs", program), join(path, program));
  await writeFile(join(path, "package.json"), '{"type":"module"}');
  // The packages of a workspace are installed only in the workspace's folder.
  const installed = join(path, "node_modules");
  await mkdir(join(installed, "@hono"), { recursive: true });
  for (const name of ["@bowline", "bowline", "hono", "zod", "@hono/node-server"])
    await symlink(join(root, "node_modules", name), join(installed, name));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const environment = (baseUrl: string, more: object = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  MODEL_URL: baseUrl,
  OPENAI_API_KEY: "k",
  ...more,
});

const text = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
const end = (finish_reason: string): object => ({
  choices: [{ index: 0, delta: {}, finish_reason }],
});
const says = (content: string): Handler => streamed(text(content), end("stop"), "[DONE]");

describe("examples/programs", () => {
  for (const [program, most] of [
    ["chat-server.ts", 45],
    ["code-review.ts", 35],
    ["batch.ts", 30],
    ["use-chat-hono.ts", 30],
  ] as const)
    it(`has ${program} in at most ${most} lines`, () => {
      const source = readFileSync(join(root, "examples/programs", program), "utf8");
      assert.ok(source.trimEnd().split("\n").length <= most);
    });

  it("finishes a batch that was killed without repeating work", async () => {
    await using folder = await folderWith("batch.ts");
    await writeFile(join(folder.path, "prompts.txt"), "one\ntwo\nthree\nfour\nfive\nsix\n");
    let hold = true;
    const waiting: (() => void)[] = [];
    const answer: Handler = (response, request, body) => {
      const asked = JSON.parse(body) as { messages: { content: string }[] };
      const send = (): void =>
        void says(`Done: ${asked.messages.at(-1)?.content}`)(response, request, body);
      if (hold && server.requests.length > 2) waiting.push(send);
      else send();
    };
    await using server = await loopback(answer);
    const env = environment(server.baseUrl);
    const first = spawn(process.execPath, [...options, "batch.ts"], { cwd: folder.path, env });
    await eventually("four prompts wait", () => waiting.length === 4);
    first.kill("SIGKILL");
    await once(first, "close");
    hold = false;
    const done = server.requests.length;
    const second = await startProgram(process.execPath, [...options, "batch.ts"], {
      cwd: folder.path,
      env,
      timeout: 60_000,
    });
    assert.equal(second.stderr, "");
    assert.equal(server.requests.length, done + 4);
    const lines = second.stdout.trim().split("\n").toSorted();
    assert.equal(lines.length, 6);
    assert.equal(lines.filter((line) => line.endsWith(" done before")).length, 2);
    assert.equal(
      lines.filter((line) => / Done: (?:one|two|three|four|five|six)$/.test(line)).length,
      4,
    );
  });

  it("reviews a change, reading the file first, and exits 1 for a bug", async () => {
    await using folder = await folderWith("code-review.ts");
    const cwd = join(folder.path, "work");
    await mkdir(cwd);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd });
    git("init", "-q", "-b", "main");
    await writeFile(join(cwd, "tide.txt"), "high at 14:10\n");
    git("add", ".");
    git("commit", "-qm", "Add the tide");
    await writeFile(join(cwd, "tide.txt"), "high at 25:10\n");
    const finding = { file: "tide.txt", line: 1, severity: "bug", message: "No such hour." };
    await using server = await loopback(
      callOf({ name: "read", input: { path: "tide.txt" } }),
      answerOf({ findings: [finding] }),
    );
    const { code, stdout, stderr } = await startProgram(
      process.execPath,
      [...options, "../code-review.ts", "main"],
      { cwd, env: environment(server.baseUrl, { ANTHROPIC_API_KEY: "k" }), timeout: 60_000 },
    );
    assert.deepEqual([stderr, stdout, code], ["", "tide.txt:1 bug: No such hour.\n", 1]);
    assert.match(server.requests[1]?.body ?? "", /high at 25:10/);
  });

  it("serves chat sessions, one run at a time, and stops a run when its client leaves", async () => {
    await using folder = await folderWith("chat-server.ts");
    let release = (): void => {};
    const slow: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(text("Half"))}\n\n`);
      release = () => void response.end();
    };
    await using server = await loopback(says("Hello."), slow, slow, says("Still here."));
    const port = await freePort();
    const chat = `http://127.0.0.1:${port}/chats/a`;
    const send = (message: string, signal?: AbortSignal): Promise<Response> =>
      fetch(chat, { method: "POST", body: message, ...(signal && { signal }) });
    const start = () => {
      const child = spawn(process.execPath, [...options, "chat-server.ts"], {
        cwd: folder.path,
        env: environment(server.baseUrl, { PORT: String(port) }),
      });
      return {
        child,
        isUp: () =>
          fetch(chat).then(
            ({ status }) => status === 404,
            () => false,
          ),
      };
    };
    const first = start();
    try {
      await eventually("the server listens", first.isUp, 30_000);
      assert.match(await (await send("Hi")).text(), /"delta":"Hello\."[^]*"reason":"done"/);

      const leaving = new AbortController();
      const left = await send("And?", leaving.signal);
      assert.equal((await send("Me too")).status, 409);
      await eventually("the model is asked again", () => server.requests.length === 2);
      leaving.abort();
      await assert.rejects(left.text());
      await eventually("the model's connection is closed", async () => (await server.open()) === 0);
      release();

      let stopped = await send("Again");
      await eventually("the run that was left has ended", async () => {
        if (stopped.status === 409) stopped = await send("Again");
        return stopped.status === 200;
      });
      await eventually("the model is asked", () => server.requests.length === 3);
      const stop = await fetch(`${chat}/run`, { method: "DELETE" });
      assert.equal(stop.status, 204);
      assert.match(await stopped.text(), /"reason":"aborted"/);
    } finally {
      first.child.kill("SIGKILL");
      await once(first.child, "close");
    }
    const second = start();
    try {
      await eventually("the server listens again", second.isUp, 30_000);
      assert.match(await (await send("Last")).text(), /Still here\./);
      const { messages: sent } = JSON.parse(server.requests.at(-1)?.body ?? "") as {
        messages: { role: string }[];
      };
      assert.equal(sent.filter(({ role }) => role === "user").length, 4);
    } finally {
      second.child.kill("SIGKILL");
      await once(second.child, "close");
    }
  });
});

/** An answer of Anthropic's wire that calls one tool. */
function callOf({ name, input }: { name: string; input: object }): Handler {
  return wire([
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: `call_${name}`, name, input: {} },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  ]);
}

/**
 * Answers with a value that fits the schema: by the tool `final_answer` if offered, or else as
 * text.
 */
function answerOf(value: object): Handler {
  return (response, request, body) => {
    const { tools = [] } = JSON.parse(body) as { tools?: { name: string }[] };
    const asked = tools.some(({ name }) => name === "final_answer");
    const handler = asked
      ? callOf({ name: "final_answer", input: value })
      : wire([
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          {
            type: "content_block_delta",
            index: 0,
            delta: { type: "text_delta", text: JSON.stringify(value) },
          },
          { type: "content_block_stop", index: 0 },
          {
            type: "message_delta",
            delta: { stop_reason: "end_turn" },
            usage: { output_tokens: 9 },
          },
        ]);
    handler(response, request, body);
  };
}

function wire(events: readonly ({ readonly type: string } & Record<string, unknown>)[]): Handler {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = { input_tokens: 5, output_tokens: 1 };
    const message = { id: "m", type: "message", role: "assistant", content: [], usage };
    const all = [{ type: "message_start", message }, ...events, { type: "message_stop" }];
    for (const event of all)
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
}
