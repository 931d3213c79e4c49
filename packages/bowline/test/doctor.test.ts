/**
 * `bowline doctor` against standard and deviating servers. Its profile then runs a tool turn with
 * the same server.
 */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import type { Compat } from "@bowline/core";
import { examine, type DoctorResult } from "../src/doctor/index.ts";
import { failing, loopback } from "../../../test/support/loopback.ts";
import { bowline, temporary } from "./command.ts";
import {
  asJson,
  callsAsText,
  changeCalls,
  chatServer,
  eventStream,
  wholeCalls,
  withFinish,
  type Json,
  type Oddities,
  type Refusal,
} from "./doctor-servers.ts";

const html = "<!doctype html><html><title>Sign in</title></html>";

function refused(status: number, message: string): Refusal {
  return { status, body: { error: { message } } };
}

function rolesOf({ messages }: Json): unknown[] {
  return Array.isArray(messages) ? messages.map((message: Json) => message.role) : [];
}

interface Row {
  readonly name: string;
  readonly oddities: Oddities;
  readonly verdict: DoctorResult["verdict"]["kind"];
  readonly text?: RegExp;
  readonly compat?: Compat;
  /** Expected findings, as `id mark`. */
  readonly findings: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: "that follows the standard",
    oddities: {},
    verdict: "works",
    findings: [
      "stream ok",
      "usage ok",
      "tool-call ok",
      "tool-calls ok",
      "tool-nested ok",
      "images ok",
      "context ok",
    ],
  },
  {
    name: "with a finish reason on every chunk, stop after calls and no space after data:",
    oddities: {
      write: eventStream("data:"),
      chunks: (chunks) => chunks.map((chunk) => withFinish(chunk, "stop")),
    },
    verdict: "works",
    findings: [
      "data-space differs",
      "finish-reason differs",
      "call-finish differs",
      "tool-calls ok",
      "max-tokens-obeyed differs",
    ],
  },
  {
    name: "that refuses stream_options with 422",
    oddities: {
      refuse: ({ stream_options: asked }) =>
        asked === undefined
          ? undefined
          : {
              status: 422,
              body: {
                detail: [
                  { loc: ["body", "stream_options"], msg: "stream_options: extra_forbidden" },
                ],
              },
            },
    },
    verdict: "settings",
    text: /^works with these settings: no stream_options$/,
    compat: { streamUsage: false },
    findings: ["stream-options missing", "usage missing", "tool-results ok"],
  },
  {
    name: "that refuses the developer role",
    oddities: {
      refuse: (body) =>
        rolesOf(body).includes("developer")
          ? refused(400, "developer is not one of [system, user]")
          : undefined,
    },
    verdict: "works",
    findings: ["developer-role missing", "temperature ok"],
  },
  {
    name: "that refuses the system role and stream_options",
    oddities: {
      refuse: (body) =>
        rolesOf(body).includes("system") || body.stream_options !== undefined
          ? refused(400, "a field was refused")
          : undefined,
    },
    verdict: "settings",
    compat: { streamUsage: false, systemRole: "developer" },
    findings: ["system-role missing", "stream-options missing"],
  },
  {
    name: "that accepts only max_completion_tokens and no temperature",
    oddities: {
      refuse: ({ max_tokens: limit, temperature }) =>
        limit !== undefined
          ? refused(400, "Unsupported parameter: max_tokens. Use max_completion_tokens.")
          : temperature === undefined
            ? undefined
            : refused(400, "temperature is not supported with this model"),
    },
    verdict: "settings",
    text: /max_completion_tokens instead of max_tokens, no temperature$/,
    compat: { maxTokensField: "max_completion_tokens", noTemperature: true },
    findings: ["max-tokens differs", "max-tokens-obeyed ok", "temperature missing"],
  },
  {
    name: "whose calls come in one piece, without an index and an id",
    oddities: {
      chunks: (chunks) =>
        changeCalls(wholeCalls(chunks), ({ function: fn }) => {
          const { name, arguments: args } = fn as Json;
          return { function: { name, arguments: JSON.stringify(args) } };
        }),
    },
    verdict: "works",
    findings: ["call-index differs", "call-ids differs", "tool-calls ok"],
  },
  {
    name: "whose parallel calls share index 0 and repeat the name in every fragment",
    oddities: {
      chunks: (chunks) => {
        let name: unknown;
        let id: unknown;
        return changeCalls(chunks, (entry) => {
          const fn = entry.function as Json;
          name = fn.name ?? name;
          id = entry.id ?? id;
          return { index: 0, id, type: "function", function: { ...fn, name } };
        });
      },
    },
    verdict: "works",
    findings: ["call-index differs", "call-name differs", "tool-calls ok"],
  },
  {
    name: "whose arguments are an object",
    oddities: { chunks: (chunks) => wholeCalls(chunks) },
    verdict: "works",
    findings: ["call-form differs", "tool-calls ok", "tool-no-arguments ok", "tool-nested ok"],
  },
  {
    name: "that writes calls as text",
    oddities: { chunks: (chunks) => callsAsText(chunks) },
    verdict: "no-tools",
    text: /^cannot use tools: tool calls are written into the text/,
    findings: ["tool-call failed", "images ok"],
  },
  {
    name: "that refuses tools",
    oddities: {
      refuse: ({ tools }) =>
        tools === undefined ? undefined : refused(400, "local-1 does not support tools"),
    },
    verdict: "no-tools",
    text: /does not support tools/,
    findings: ["tool-call missing"],
  },
  {
    name: "whose model calls no tools",
    oddities: {
      chunks: (chunks) => {
        const hasCalls = changeCalls(chunks, (entry) => entry).some((chunk) =>
          JSON.stringify(chunk).includes("tool_calls"),
        );
        return hasCalls
          ? [
              {
                choices: [
                  { index: 0, delta: { content: "I would rather not." }, finish_reason: "stop" },
                ],
              },
            ]
          : chunks;
      },
    },
    verdict: "works",
    text: /it is unknown whether tools work/,
    findings: ["tool-call not seen", "tool-results ok"],
  },
  {
    name: "that answers JSON instead of a stream",
    oddities: { write: asJson },
    verdict: "works",
    findings: ["stream differs", "tool-calls ok", "usage ok"],
  },
  {
    name: "without usage and [DONE], and with CRLF",
    oddities: {
      chunks: (chunks) => chunks.filter((chunk) => chunk.usage === undefined),
      write: (chunks, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(""));
      },
    },
    verdict: "works",
    findings: ["usage missing", "done differs", "line-ends differs", "content-type differs"],
  },
  {
    name: "that sends errors with status 200",
    oddities: {
      refuse: ({ model, messages }) =>
        model === "local-1" && Array.isArray(messages)
          ? undefined
          : { status: 200, body: { error: "no such thing" } },
    },
    verdict: "works",
    findings: ["unknown-model differs", "bad-request differs"],
  },
  {
    name: "that requires its reasoning to be sent back",
    oddities: {
      refuse: ({ messages }) => {
        const list = (Array.isArray(messages) ? messages : []) as Json[];
        const lacks = list.some(
          (message) => message.role === "assistant" && message.reasoning_content === undefined,
        );
        return lacks
          ? refused(400, "Missing reasoning_content field in the assistant message")
          : undefined;
      },
      chunks: (chunks) => [
        { choices: [{ index: 0, delta: { reasoning_content: "Hm." }, finish_reason: null }] },
        ...chunks,
      ],
    },
    verdict: "settings",
    compat: { replayReasoning: true },
    findings: ["reasoning ok", "replay-reasoning differs", "tool-results ok"],
  },
  {
    name: "that answers with HTML",
    oddities: { models: { status: 200, body: html }, refuse: () => ({ status: 200, body: html }) },
    verdict: "unusable",
    text: /^not usable: .*HTML page titled "Sign in"/,
    findings: ["models missing", "answer failed"],
  },
  {
    name: "that requires a key",
    oddities: { models: refused(401, "No key"), refuse: () => refused(401, "No key") },
    verdict: "unusable",
    text: /^not usable: the server wants a key \(HTTP 401/,
    findings: ["key failed"],
  },
];

function doctored(
  baseUrl: string,
  options: { model?: string; apiKey?: string; timeoutMs?: number } = {},
): Promise<DoctorResult> {
  return examine({ baseUrl, timeoutMs: 5000, signal: new AbortController().signal, ...options });
}

function marks({ findings }: DoctorResult): string[] {
  return findings.map(({ id, mark }) => `${id} ${mark}`);
}

describe("bowline doctor", { concurrency: 2 }, () => {
  for (const { name, oddities, verdict, text, compat = {}, findings } of rows) {
    it(`examines a server ${name}`, async () => {
      await using server = await chatServer(oddities);
      const result = await doctored(server.baseUrl, { model: "local-1" });
      const all = JSON.stringify(result.findings, undefined, 1);
      assert.equal(result.verdict.kind, verdict, `${result.verdict.text}\n${all}`);
      if (text !== undefined) assert.match(result.verdict.text, text);
      assert.deepEqual(
        findings.filter((wanted) => !marks(result).includes(wanted)),
        [],
        all,
      );
      assert.ok(result.requests < 30, String(result.requests));
      if (verdict === "unusable") return assert.equal(result.profile, undefined);
      assert.deepEqual(
        { ...result.profile, notes: [] },
        { version: 1, baseUrl: server.baseUrl, model: "local-1", compat, notes: [] },
      );
      if (verdict === "works" && !(text?.source ?? "").includes("is unknown"))
        await doToolTurn(result);
      if (verdict === "settings") await doToolTurn(result);
    });
  }

  it("reports no deviation for aimock, and runs a tool turn with it", async () => {
    const mock = new LLMock({ port: 0 });
    const usage = { prompt_tokens: 9, completion_tokens: 3 };
    const weather = (...cities: string[]) =>
      cities.map((city) => ({ name: "weather", arguments: { city } }));
    mock.on(
      { userMessage: "and in Rome", hasToolResult: false },
      { toolCalls: weather("Oslo", "Rome"), usage },
    );
    mock.on(
      { userMessage: "weather in Oslo", hasToolResult: false },
      { toolCalls: weather("Oslo"), usage },
    );
    mock.on(
      { userMessage: "notes.txt", hasToolResult: false },
      { toolCalls: [{ name: "read", arguments: { path: "notes.txt" } }], usage },
    );
    mock.on({ userMessage: "weather in Oslo", hasToolResult: true }, { content: "Snow.", usage });
    mock.on(
      { userMessage: "notes.txt", hasToolResult: true },
      { content: "It says: bring rope", usage },
    );
    mock.on({ userMessage: /./ }, { content: "1 2 3", usage });
    await mock.start();
    try {
      const result = await doctored(`${mock.url}/v1`, { model: "gpt-x" });
      const all = JSON.stringify(result, undefined, 1);
      assert.equal(result.verdict.kind, "works", all);
      for (const wanted of [
        "stream ok",
        "tool-call ok",
        "tool-calls ok",
        "call-writing ok",
        "tool-results ok",
        "tool-nested not seen",
      ])
        assert.ok(marks(result).includes(wanted), `${wanted}\n${all}`);
      await doToolTurn(result);
    } finally {
      await mock.stop();
    }
  });

  it("names the right base URL when the path is missing", async () => {
    await using server = await chatServer();
    await using shell = await loopback((response, { url }) => {
      response.writeHead(url === "/v1/models" ? 200 : 404, { "content-type": "application/json" });
      response.end(url === "/v1/models" ? '{"data":[{"id":"a"}]}' : "{}");
    });
    const { verdict } = await doctored(shell.baseUrl.replace("/v1", ""));
    assert.match(verdict.text, /^not usable: the server is at http:\S+\/v1, not at /);
    assert.equal((await doctored(server.baseUrl)).model, "local-1");
  });

  it("requests the model list before the query of the address, and names that base URL correctly", async () => {
    const asked: (string | undefined)[] = [];
    await using server = await loopback((response, { url }) => {
      asked.push(url);
      response.writeHead(url === "/v1/models?version=1" ? 200 : 404, {
        "content-type": "application/json",
      });
      response.end(url === "/v1/models?version=1" ? '{"data":[{"id":"a"}]}' : "{}");
    });
    const { verdict } = await doctored(`${server.baseUrl.replace("/v1", "")}?version=1`);
    assert.match(verdict.text, /^not usable: the server is at http:\S+\/v1\?version=1, not at /);
    assert.deepEqual(asked, ["/models?version=1", "/v1/models?version=1"]);
  });

  it("reports that nothing answers, or that no model is listed", async () => {
    const gone = await chatServer();
    await gone[Symbol.asyncDispose]();
    assert.match(
      (await doctored(gone.baseUrl)).verdict.text,
      /^not usable: nothing answers at .* \(ECONNREFUSED\)$/,
    );
    await using empty = await chatServer({ models: { status: 200, body: { data: [] } } });
    assert.match(
      (await doctored(empty.baseUrl)).verdict.text,
      /lists no model \(the list is empty\): name one with --model/,
    );
  });

  it("takes the first model that can chat, and its context window from the list", async () => {
    const data = [{ id: "text-embed-1" }, { id: "local-1", max_model_len: 8192 }];
    await using server = await chatServer({ models: { status: 200, body: { data } } });
    const { model, findings } = await doctored(server.baseUrl);
    assert.equal(model, "local-1");
    assert.match(
      findings.find(({ id }) => id === "context")?.says ?? "",
      /8192 tokens, according to max_model_len/,
    );
  });

  it("waits for a silent server up to its time limit, and no longer", async () => {
    await using silent = await loopback(failing(404, "{}"), () => {});
    const started = Date.now();
    const { verdict } = await doctored(silent.baseUrl, { model: "x", timeoutMs: 300 });
    assert.equal(verdict.text, "not usable: no whole answer within 0.3 s");
    assert.ok(Date.now() - started < 30_000);
  });

  it("finds the header that carries the key, and redacts the key when a server quotes it", async () => {
    const key = "sk-very-secret";
    await using server = await chatServer({
      refuse: ({ model }, { headers }) =>
        headers["api-key"] === key
          ? model === "local-1"
            ? undefined
            : refused(400, `Not for ${key}`)
          : refused(401, `Bad key ${key}`),
      models: { status: 200, body: { data: [{ id: "local-1" }] } },
    });
    const plain = await doctored(server.baseUrl, { apiKey: key });
    assert.equal(plain.verdict.kind, "settings", JSON.stringify(plain, undefined, 1));
    assert.deepEqual(plain.profile?.compat, { keyHeader: "api-key" });
    assert.ok(!JSON.stringify(plain).includes(key));
  });
});

/** Runs a tool turn with the profile. */
async function doToolTurn({ profile }: DoctorResult): Promise<void> {
  await using folder = await temporary();
  await writeFile(join(folder.path, "notes.txt"), "bring rope\n");
  await writeFile(join(folder.path, "server.json"), JSON.stringify(profile));
  const args = ["run", "--profile", "server.json", "what is in notes.txt?"];
  const { code, stdout, stderr } = await bowline(args, { cwd: folder.path });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^It says: .*bring rope/);
  assert.match(stderr, /✓ read/);
}

describe("the doctor command", () => {
  it("prints a report, writes a profile that run accepts, and never prints the key", async () => {
    await using folder = await temporary();
    await using server = await chatServer({
      refuse: ({ stream_options: asked }, { headers }) =>
        headers.authorization === "Bearer sk-secret"
          ? asked === undefined
            ? undefined
            : refused(422, "stream_options? sk-secret")
          : refused(401, "No key"),
    });
    const env = { LOCAL_KEY: "sk-secret" };
    const file = join(folder.path, "server.json");
    const args = ["doctor", server.baseUrl, "--api-key-env", "LOCAL_KEY", "--write", file];
    const { code, stdout, stderr } = await bowline(args, { env });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(
      stdout,
      /^ {2}missing {3}stream_options is refused \(HTTP 422: stream_options\? \[key\]\)/m,
    );
    assert.match(stdout, /^works with these settings: no stream_options$/m);
    assert.match(stdout, /bowline run --profile \S+server\.json/);
    assert.match(stdout, /^\d+ requests, [\d.]+ s$/m);
    const text = await readFile(file, "utf8");
    assert.ok(!`${stdout}${text}`.includes("sk-secret"), stdout);
    await writeFile(join(folder.path, "notes.txt"), "bring rope\n");
    const run = ["run", "--profile", file, "--api-key-env", "LOCAL_KEY", "what is in notes.txt?"];
    const done = await bowline(run, { cwd: folder.path, env });
    assert.match(done.stdout, /bring rope/, done.stderr);
    const other = await bowline([...run, "--model", "openai/other"], { cwd: folder.path, env });
    assert.match(other.stderr, /The model openai\/other does not exist/);
  });

  it("prints the whole result as JSON, and exits with 1 when the server is unusable", async () => {
    await using server = await chatServer({ refuse: () => refused(500, "out of memory") });
    const { code, stdout, stderr } = await bowline([
      "doctor",
      "--json",
      "--model",
      "local-1",
      server.baseUrl,
    ]);
    const result = JSON.parse(stdout) as DoctorResult;
    assert.deepEqual([code, stderr, result.verdict.kind], [1, "", "unusable"]);
    assert.equal(result.verdict.text, "not usable: HTTP 500: out of memory");
  });

  it("exits at Ctrl-C with the results so far", async () => {
    await using silent = await chatServer({ write: () => {} });
    const { code, stdout, ms } = await bowline(["doctor", silent.baseUrl], {
      watch: (child) => {
        const wait = setInterval(() => {
          if (silent.bodies.length === 0) return;
          clearInterval(wait); // a second Ctrl-C would discard the results so far
          child.kill("SIGINT");
        }, 50);
        child.on("exit", () => clearInterval(wait));
      },
    });
    assert.equal(code, 130);
    assert.match(stdout, /^stopped before the end$/m);
    assert.match(stdout, /the model list has 1 model/);
    assert.ok(ms < 30_000);
  });

  it("explains wrong usage on one line", async () => {
    await using folder = await temporary();
    const bad = join(folder.path, "bad.json");
    await writeFile(
      bad,
      JSON.stringify({
        version: 1,
        baseUrl: "http://x/v1",
        model: "m",
        compat: { streamUse: false },
      }),
    );
    const cases: [string[], RegExp][] = [
      [["doctor"], /^bowline: Which server\? /],
      [["doctor", "localhost:1234"], /takes an http or https address/],
      [
        ["doctor", "http://user:pw@x/v1"],
        /must not contain a user name or password\. Pass a key with --api-key-env/,
      ],
      [["doctor", "http://x/v1", "--timeout", "soon"], /--timeout takes a number/],
      [["doctor", "http://x/v1", "--api-key-env", "NO_SUCH"], /the variable NO_SUCH is not set/],
      [["run", "--profile", bad, "hi"], /unknown setting "streamUse"/],
      [["run", "--profile", join(folder.path, "none.json"), "hi"], /cannot be read \(ENOENT\)/],
    ];
    for (const [args, said] of cases) {
      const { code, stdout, stderr } = await bowline(args);
      assert.deepEqual([code, stdout], [2, ""], stderr);
      assert.match(stderr, said);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
  });
});
