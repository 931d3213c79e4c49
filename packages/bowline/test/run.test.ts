/** `bowline run`, as a user types it: real processes, real sockets, real files. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AgentEvent, AgentMessage } from "@bowline/core";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
} from "../../../test/support/loopback.ts";
import { bowline, temporary } from "./command.ts";
import { endsWithin } from "./tools/processes.ts";

const root = join(import.meta.dirname, "../../..");

/** A tool call of the model. */
function calls(name: string, args: object, id = "call_1"): Handler {
  const call = {
    index: 0,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
  return streamed(
    {
      choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
    "[DONE]",
  );
}

const at = (baseUrl: string, ...more: string[]): string[] => [
  "run",
  "--base-url",
  baseUrl,
  "--model",
  "m",
  ...more,
];

describe("bowline run", () => {
  it("does the README's task with the practice model and prints a right answer", async () => {
    const readme = await readFile(join(root, "README.md"), "utf8");
    const task = /npx bowline run "([^"]+)"/.exec(readme)?.[1] ?? "";
    const { code, stdout, stderr } = await bowline(["run", task], { cwd: root });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /practice model, not an LLM/);
    assert.match(stderr, /→ (?:glob|read)/);
    // The right answer is computed from the files.
    const { globSync, statSync } = await import("node:fs");
    const [largest = ""] = globSync("packages/core/src/**/*.ts", { cwd: root }).toSorted(
      (a, b) => statSync(join(root, b)).size - statSync(join(root, a)).size,
    );
    assert.ok(stdout.includes(largest), `${stdout} should name ${largest}`);
    const purpose =
      /[A-Za-z][^.]{20,}/.exec(
        (await readFile(join(root, largest), "utf8"))
          .replaceAll(/^\/\/\/.*$/gm, "")
          .replace(/\s*\n \* /g, " "),
      )?.[0] ?? "";
    assert.ok(
      stdout.includes(purpose.slice(0, 30)),
      `${stdout} should say what ${largest} is for: ${purpose}`,
    );
  });

  it("prints only the answer on standard output; calls, durations and usage go to standard error", async () => {
    await using folder = await temporary();
    await writeFile(join(folder.path, "a.txt"), "secret of the file\n");
    await using server = await loopback(
      calls("read", { path: "a.txt" }),
      chatText("It holds a secret."),
    );
    const { code, stdout, stderr } = await bowline(at(server.baseUrl, "what is in a.txt?"), {
      cwd: folder.path,
    });
    assert.deepEqual([code, stdout], [0, "It holds a secret.\n"]);
    assert.match(stderr, /→ read \{"path":"a\.txt"\}\n✓ read \(\d+ ms\)/);
    assert.match(stderr, /2 turns, 1 tool call, 10 tokens in, 5 out/);
    assert.match(server.requests[1]?.body ?? "", /secret of the file/);
  });

  it("prints the event log with --json: a line with the session, then one numbered object per line, with one end", async () => {
    await using server = await loopback(chatText("Hi."));
    const { code, stdout } = await bowline(at(server.baseUrl, "--json", "say hi"));
    const [first, ...events] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(first ?? {}), ["type", "id"]);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    );
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["agent_start", "agent_end"]);
  });

  it("appends standard input to the task", async () => {
    await using server = await loopback(chatText("ok"));
    await bowline(at(server.baseUrl, "sum this up:"), { input: "a long text" });
    assert.match(server.requests[0]?.body ?? "", /sum this up:\\n\\na long text/);
  });

  it("sends images to the model", async () => {
    await using folder = await temporary();
    await writeFile(join(folder.path, "a.png"), Buffer.from("89504e470d0a1a0a", "hex"));
    await using server = await loopback(chatText("A picture."));
    const { code } = await bowline(at(server.baseUrl, "--image", "a.png", "what is this?"), {
      cwd: folder.path,
    });
    assert.equal(code, 0);
    assert.match(server.requests[0]?.body ?? "", /data:image\/png;base64,iVBORw0KGgo=/);
    const bad = await bowline(at(server.baseUrl, "--image", "b.png", "what is this?"), {
      cwd: folder.path,
    });
    assert.deepEqual(
      [bad.code, bad.stderr],
      [2, "bowline: --image b.png: cannot be read (ENOENT).\n"],
    );
  });

  it("sends files to the model, by their content, and refuses others before the run", async () => {
    await using folder = await temporary();
    await writeFile(join(folder.path, "a.txt"), "%PDF-1.7");
    await writeFile(join(folder.path, "b.md"), "Grüße");
    await writeFile(join(folder.path, "c.mp4"), Buffer.from("00000018667479706d703432", "hex"));
    await writeFile(join(folder.path, "d.zip"), Buffer.from("504b0304ff00", "hex"));
    await using server = await loopback(chatText("Read."));
    const ask = (...files: string[]): ReturnType<typeof bowline> => {
      const options = files.flatMap((file) => ["--file", file]);
      return bowline(at(server.baseUrl, ...options, "what is this?"), { cwd: folder.path });
    };
    assert.equal((await ask("a.txt", "b.md")).code, 0);
    const body = server.requests.at(-1)?.body ?? "";
    assert.match(
      body,
      /"filename":"a.txt","file_data":"data:application\/pdf;base64,JVBERi0xLjc="/,
    );
    assert.match(body, /<file name=\\"b.md\\">\\nGrüße\\n<\/file>/);
    const asked = server.requests.length;
    for (const [file, why] of [
      ["c.mp4", /openai-chat cannot send the file c.mp4 \(video\/mp4\)/],
      ["d.zip", /is not a PDF, UTF-8 text, MP3, WAV or MP4/],
      ["e.pdf", /cannot be read \(ENOENT\)/],
    ] as const) {
      const { code, stderr } = await ask(file);
      assert.equal(code, 2, stderr);
      assert.match(stderr, why);
    }
    assert.equal(server.requests.filter(({ body: sent }) => sent !== "").length, asked);
  });
});

describe("approval", () => {
  it("denies write, edit and bash without a terminal, tells the model why, and changes nothing", async () => {
    await using folder = await temporary();
    await using server = await loopback(
      calls("write", { path: "a.txt", content: "x" }),
      chatText("Could not."),
    );
    const { code, stdout, stderr } = await bowline(at(server.baseUrl, "write a.txt"), {
      cwd: folder.path,
    });
    assert.deepEqual([code, stdout], [0, "Could not.\n"]);
    assert.match(stderr, /✗ write .*there is no terminal/);
    assert.match(server.requests[1]?.body ?? "", /Denied: there is no terminal to ask on/);
    assert.equal(existsSync(join(folder.path, "a.txt")), false);
  });

  it("is given in advance by --yes", async () => {
    await using folder = await temporary();
    await using server = await loopback(
      calls("bash", { command: "echo hi > a.txt" }),
      chatText("Done."),
    );
    const { code } = await bowline(at(server.baseUrl, "--yes", "make a.txt"), { cwd: folder.path });
    assert.equal(code, 0);
    assert.equal(await readFile(join(folder.path, "a.txt"), "utf8"), "hi\n");
  });
});

describe("a run that fails", () => {
  /**
   * Returns the error lines of a failed command, without those that name the model, the session and
   * the usage.
   */
  const complaint = (stderr: string): string[] =>
    stderr
      .trimEnd()
      .split("\n")
      .filter((line) => !/^bowline: custom\/m|^\d+ turns?,|^continue with: /.test(line));

  const servers: Record<string, [Handler, RegExp]> = {
    "a model the server does not know": [
      failing(404, { error: { message: "model `m` does not exist" } }),
      /HTTP 404.*model `m` does not exist/,
    ],
    "a wrong key": [
      failing(401, { error: { message: "Incorrect API key provided: sk-very-secret" } }),
      /refused the API key.*\[key\]/,
    ],
    "a page instead of a stream": [
      (response) =>
        response
          .writeHead(200, { "content-type": "text/html" })
          .end("<html><title>Router login</title></html>"),
      /HTML page titled "Router login".*check the base URL/,
    ],
    "a stream that stops short": [
      streamed({ choices: [{ delta: { content: "half an ans" } }] }),
      /ended before the answer was complete/,
    ],
  };
  for (const [what, [handler, said]] of Object.entries(servers)) {
    it(`because of ${what} prints one line without the key and exits with 1`, async () => {
      await using server = await loopback(handler);
      const { code, stderr, stdout } = await bowline(
        at(server.baseUrl, "--api-key-env", "MY_KEY", "hi"),
        {
          env: { MY_KEY: "sk-very-secret" },
        },
      );
      assert.equal(code, 1);
      const lines = complaint(stderr).filter((line) => !line.startsWith("… "));
      assert.equal(lines.length, 1, stderr);
      assert.match(lines[0] ?? "", said);
      assert.equal((stdout + stderr).includes("sk-very-secret"), false);
    });
  }

  it("because no server listens says so after retries for the time of --retry-for", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const { code, stderr } = await bowline(
      at(`http://127.0.0.1:${port}/v1`, "--retry-for", "0.5", "hi"),
    );
    assert.equal(code, 1);
    assert.match(
      complaint(stderr).at(-1) ?? "",
      /Could not reach http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions: ECONNREFUSED/,
    );
    assert.deepEqual(
      complaint(stderr).filter((line) => line.startsWith("… ")),
      [`… No response from 127.0.0.1:${port}. Retrying for up to 0.5 s.`],
    );
  });

  const usage: Record<string, [string[], Record<string, string>, RegExp]> = {
    "no task": [["run"], {}, /What is the task\?/],
    "an unknown option": [["run", "--colour", "hi"], {}, /Unknown option '--colour'/],
    "an unknown command": [["rnu", "hi"], {}, /no command "rnu"/],
    "a model without a provider": [["run", "--model", "gpt", "hi"], {}, /provider\/model/],
    "an unknown provider": [["run", "--model", "acme/gpt", "hi"], {}, /Unknown provider "acme"/],
    "a missing key": [
      ["run", "--model", "openai/gpt-5-mini", "hi"],
      {},
      /OpenAI needs a key: set OPENAI_API_KEY/,
    ],
    "a key variable that is not set": [
      ["run", "--model", "openai/x", "--api-key-env", "NOPE", "hi"],
      {},
      /variable NOPE is not set/,
    ],
    "an unknown level of thinking": [
      ["run", "--thinking", "very", "hi"],
      {},
      /--thinking takes one of off,/,
    ],
    "a limit that is not a number": [
      ["run", "--max-turns", "many", "hi"],
      {},
      /--max-turns takes a whole number/,
    ],
    "an invalid address": [
      ["run", "--base-url", "localhost:1234", "hi"],
      {},
      /--base-url takes an http or https address/,
    ],
  };
  for (const [what, [args, env, said]] of Object.entries(usage)) {
    it(`because of wrong usage (${what}) prints one line and exits with 2`, async () => {
      const { code, stderr, stdout } = await bowline(args, { env });
      assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [2, "", 1], stderr);
      assert.match(stderr, said);
    });
  }

  it("because the budget is used up exits with 3 and prints the best answer so far", async () => {
    await using folder = await temporary();
    await using server = await loopback(calls("glob", { pattern: "*" }));
    const turns = await bowline(at(server.baseUrl, "--max-turns", "2", "hi"), { cwd: folder.path });
    assert.equal(turns.code, 3);
    assert.match(turns.stderr, /used its budget of 2 turns/);
    const tokens = await bowline(at(server.baseUrl, "--max-tokens", "20", "hi"), {
      cwd: folder.path,
    });
    assert.equal(tokens.code, 3);
  });

  it("because of the time limit leaves a silent server and exits with 3", async () => {
    await using server = await loopback(() => {});
    const { code, ms } = await bowline(at(server.baseUrl, "--timeout", "0.3", "hi"));
    assert.equal(code, 3);
    assert.ok(ms < 30_000);
  });

  it("because of Ctrl-C exits with 130, a valid transcript and no process left, even if a command ignores it", async () => {
    await using folder = await temporary();
    const pidFile = join(folder.path, "pid");
    const command = 'trap "" TERM; echo $$ > pid.new; mv pid.new pid; sleep 60; sleep 60';
    await using server = await loopback(calls("bash", { command }));
    let interrupted = 0;
    const { code, stdout } = await bowline(at(server.baseUrl, "--yes", "--json", "hang"), {
      cwd: folder.path,
      watch: (child) => {
        const timer = setInterval(() => {
          if (!existsSync(pidFile)) return;
          clearInterval(timer);
          interrupted = Date.now();
          child.kill("SIGINT");
        }, 20);
        child.on("close", () => clearInterval(timer));
      },
    });
    const settled = Date.now() - interrupted;
    assert.ok(settled < 30_000, `settled after ${settled} ms`);
    assert.equal(code, 130);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    const end = events.at(-1);
    assert.ok(end?.type === "agent_end" && end.reason === "aborted");
    assert.deepEqual(
      end.messages.map((message: AgentMessage) => message.role),
      ["user", "assistant", "toolResult"],
    );
    const pid = Number(await readFile(pidFile, "utf8"));
    assert.ok(await endsWithin(pid, 20_000), `${pid}`);
  });
});

describe("the choice of a model", () => {
  it("prefers --model to BOWLINE_MODEL, and that to a key", async () => {
    const keyed = {
      OPENAI_API_KEY: "k",
      ANTHROPIC_API_KEY: "k",
      BOWLINE_MODEL: "practice",
      BOWLINE_DISCOVERY: "",
    };
    const { stderr } = await bowline(["run", "what is 2 + 3?"], { env: keyed });
    assert.match(stderr, /practice model.*\(asked for\)/);
  });

  it("asks the server at --base-url for its model", async () => {
    const models: Handler = (response) =>
      response.writeHead(200).end(JSON.stringify({ data: [{ id: "only-one" }] }));
    await using server = await loopback(models, chatText("ok"));
    const { code, stderr } = await bowline(["run", "--base-url", server.baseUrl, "hi"]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /custom\/only-one/);
    const empty = await loopback((response) => response.writeHead(200).end('{"data":[]}'));
    const nothing = await bowline(["run", "--base-url", empty.baseUrl, "hi"]);
    await empty[Symbol.asyncDispose]();
    assert.deepEqual([nothing.code, /lists no models/.test(nothing.stderr)], [1, true]);
  });

  it("takes the first model that can chat, from the list before the query of the address", async () => {
    const data = [{ id: "text-embedding-1" }, { id: "chats" }];
    const models: Handler = (response) => response.writeHead(200).end(JSON.stringify({ data }));
    await using server = await loopback(models, chatText("ok"));
    const { code, stderr } = await bowline([
      "run",
      "--base-url",
      `${server.baseUrl}/?api-version=1`,
      "hi",
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /custom\/chats/);
    assert.equal(server.requests[0]?.url, "/v1/models?api-version=1");
  });

  it("uses the base URL variable of a vendor, with --model and with a key alone", async () => {
    const models: Handler = (response) =>
      response.writeHead(200).end('{"data":[{"id":"theirs"},{"id":"other"}]}');
    await using server = await loopback(chatText("ok"), models, chatText("ok"));
    const env = {
      OPENAI_API_KEY: "sk-mine",
      OPENAI_BASE_URL: `${server.baseUrl}/?secret=1`,
      BOWLINE_DISCOVERY: "",
    };
    const named = await bowline(["run", "--model", "openai/m", "hi"], { env });
    assert.equal(named.code, 0, named.stderr);
    const { origin } = new URL(server.baseUrl);
    assert.match(
      named.stderr,
      new RegExp(`^bowline: openai/m \\(from --model, at ${origin} by OPENAI_BASE_URL\\)$`, "m"),
    );
    const found = await bowline(["run", "hi"], { env });
    assert.match(
      found.stderr,
      /^bowline: openai\/theirs \(OPENAI_API_KEY is set, at http.* by OPENAI_BASE_URL\)$/m,
    );
    assert.deepEqual(
      server.requests.map(({ url, headers }) => `${url} ${headers.authorization}`),
      ["/v1/chat/completions", "/v1/models", "/v1/chat/completions"].map(
        (path) => `${path}?secret=1 Bearer sk-mine`,
      ),
    );
  });

  it("takes a vendor's default model from another server when that lists it", async () => {
    const models: Handler = (response) =>
      response.writeHead(200).end('{"data":[{"id":"a"},{"id":"gpt-5-mini"}]}');
    await using server = await loopback(models, chatText("ok"));
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.baseUrl, BOWLINE_DISCOVERY: "" };
    assert.match(
      (await bowline(["run", "hi"], { env })).stderr,
      /openai\/gpt-5-mini \(OPENAI_API_KEY is set/,
    );
    assert.equal(server.requests.length, 2);
  });

  it("prefers --base-url to the variable, and names a variable with an invalid address", async () => {
    await using server = await loopback(chatText("ok"));
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "no address" };
    assert.equal(
      (await bowline(["run", "--base-url", server.baseUrl, "-m", "openai/m", "hi"], { env })).code,
      0,
    );
    const { code, stderr } = await bowline(["run", "-m", "openai/m", "hi"], { env });
    assert.deepEqual(
      [code, stderr],
      [
        2,
        "bowline: OPENAI_BASE_URL is not an http or https address, such as https://api.openai.com/v1.\n",
      ],
    );
  });

  it("accepts ANTHROPIC_BASE_URL with and without the version, as Anthropic's own tools do", async () => {
    await using server = await loopback((response) => response.writeHead(404).end("{}"));
    const { origin } = new URL(server.baseUrl);
    for (const address of [
      origin,
      `${origin}/`,
      `${origin}/v1`,
      `${origin}/proxy/v1/?a=b`,
      `${origin}/v1/proxy`,
    ])
      await bowline(["run", "-m", "anthropic/m", "hi"], {
        env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address },
      });
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      [
        "/v1/messages",
        "/v1/messages",
        "/v1/messages",
        "/proxy/v1/messages?a=b",
        "/v1/proxy/v1/messages",
      ],
    );
  });

  it("explains an invalid list of models, and does not read on after an HTTP error", async () => {
    await using other = await loopback((response) => response.writeHead(200).end('{"data":{}}'));
    const none = await bowline(["run", "--base-url", other.baseUrl, "hi"]);
    assert.deepEqual(
      [none.code, /\(the answer is not a list\)\. Name one with --model/.test(none.stderr)],
      [1, true],
    );
    await using endless = await loopback((response) => response.writeHead(404).write("wait"));
    const { code, stderr, ms } = await bowline(["run", "--base-url", endless.baseUrl, "hi"]);
    assert.deepEqual([code, /\(HTTP 404\)/.test(stderr)], [1, true]);
    assert.ok(ms < none.ms + 9_000, `${ms} ms: it waited as long as a list may take`);
  });
});

describe("help", () => {
  it("is printed on standard output on request, and on standard error with exit code 2 otherwise", async () => {
    const asked = await bowline(["--help"]);
    assert.deepEqual([asked.code, asked.stderr], [0, ""]);
    const run = await bowline(["run", "--help"]);
    assert.match(
      run.stdout,
      /Exit codes: 0 done, 1 failed, 2 wrong usage, 3 budget or timeout used up, 130 aborted/,
    );
    const bare = await bowline([]);
    assert.deepEqual([bare.code, bare.stdout], [2, ""]);
    const { version } = JSON.parse(
      await readFile(join(root, "packages/bowline/package.json"), "utf8"),
    ) as {
      version: string;
    };
    assert.equal((await bowline(["--version"])).stdout, `${version}\n`);
  });
});
