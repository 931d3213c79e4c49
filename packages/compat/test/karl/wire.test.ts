/** karl's loop over real sockets: requests and responses in both formats. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agentLoop,
  type AgentEvent,
  type AgentLoopConfig,
  type ToolDefinition,
} from "../../src/karl/index.ts";
import { isBowlineError } from "@bowline/core";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
} from "../../../../test/support/loopback.ts";
import { strictServer } from "../../../../test/support/strict-server.ts";

const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const read: ToolDefinition = {
  name: "read",
  description: "Reads a file.",
  parameters,
  execute: async ({ path }) => ({ content: [{ type: "text", text: `text of ${path}` }] }),
};
const configOf = (baseUrl: string): AgentLoopConfig => ({
  model: "any-1",
  baseUrl,
  apiKey: "sk-karl-1",
  apiFormat: "openai",
});

async function run(
  config: AgentLoopConfig,
  tools: ToolDefinition[] = [read],
  systemPrompt = "Be brief.",
): Promise<{ events: AgentEvent[]; text: unknown; error?: unknown }> {
  const events: AgentEvent[] = [];
  const generator = agentLoop(systemPrompt, "Go", tools, config);
  try {
    for (;;) {
      const { done, value } = await generator.next();
      if (done === true) return { events, text: value.content };
      events.push(value);
    }
  } catch (error) {
    return { events, text: undefined, error };
  }
}

const delta = (fields: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const piece = (index: number | undefined, fields: object): object =>
  delta({ tool_calls: [{ ...(index !== undefined && { index }), ...fields }] });
const end = (reason: string): object => delta({}, reason);
const calls = (events: readonly AgentEvent[]): unknown[] =>
  events.flatMap((event) =>
    event.type === "tool_call_end"
      ? [[event.toolCall.id, event.toolCall.function.name, event.toolCall.function.arguments]]
      : [],
  );
const readCall = { id: "c1", function: { name: "read", arguments: '{"path":"a"}' } };

describe("karl's requests", () => {
  // Requirements: K3, K13, K39, K40, K41
  it("contain model, messages, usage option, key and configured parameters", async () => {
    await using server = await loopback(chatText("Hi"));
    await run({ ...configOf(server.baseUrl), maxTokens: 99, temperature: 0.5 });
    const [request] = server.requests;
    assert.equal(request?.url, "/v1/chat/completions");
    assert.equal(request?.headers.authorization, "Bearer sk-karl-1");
    assert.match(String(request?.headers["content-type"]), /^application\/json/);
    const { name, description } = read;
    assert.deepEqual(JSON.parse(request?.body ?? ""), {
      model: "any-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Go" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 99,
      temperature: 0.5,
      tools: [{ type: "function", function: { name, description, parameters } }],
    });
  });

  // Requirements: K13, K19, K40
  it("omit unset parameters, and take extra headers and fields", async () => {
    await using server = await loopback(chatText("Hi"));
    const config = {
      ...configOf(server.baseUrl),
      headers: { "x-title": "karl" },
      extraBody: { provider: "x" },
    };
    await run({ ...config, maxTokens: 0 }, [], "");
    assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ""), {
      model: "any-1",
      messages: [{ role: "user", content: "Go" }],
      stream: true,
      stream_options: { include_usage: true },
      provider: "x",
    });
    assert.equal(server.requests[0]?.headers["x-title"], "karl");
  });

  // Requirements: K2
  it("of two concurrent runs use separate keys", async () => {
    await using server = await loopback(chatText("Hi"));
    await Promise.all(
      ["sk-a", "sk-b"].map((apiKey) => run({ ...configOf(server.baseUrl), apiKey })),
    );
    const keys = server.requests.map(({ headers }) => headers.authorization ?? "");
    assert.deepEqual(keys.toSorted(), ["Bearer sk-a", "Bearer sk-b"]);
  });

  // Requirements: K25, K32, K33, K47
  it("of a second round contain the call and its result in the right format", async () => {
    await using server = await loopback(
      streamed(delta({ content: "I" }), piece(0, readCall), end("tool_calls"), "[DONE]"),
      chatText("Ok"),
    );
    assert.equal((await run(configOf(server.baseUrl))).text, "Ok");
    const { messages } = JSON.parse(server.requests[1]?.body ?? "") as { messages: unknown[] };
    assert.deepEqual(messages.slice(2), [
      { role: "assistant", content: "I", tool_calls: [{ ...readCall, type: "function" }] },
      { role: "tool", tool_call_id: "c1", content: "text of a" },
    ]);
  });

  for (const apiFormat of ["openai", "anthropic"] as const) {
    // Requirements: K38, K48
    it(`in ${apiFormat}'s format satisfy a strict server over two rounds of tools`, async () => {
      const asks = (id: string): object => ({ id, name: "read", args: { path: id } });
      const turn = (text: string, ...ids: string[]) => ({ text, calls: ids.map(asks) as [] });
      await using server = await strictServer(
        apiFormat === "openai" ? "openai-chat" : "anthropic-messages",
        turn("I look.", "c1", "c2"),
        turn("", "c3"),
        turn("Done."),
      );
      const { events, text } = await run({ ...configOf(server.baseUrl), apiFormat });
      assert.deepEqual(server.problems, []);
      assert.equal(text, "Done.");
      const kinds = events.map(({ type }) => type).filter((type) => !type.endsWith("delta"));
      const ran = "tool_execution_start tool_execution_end";
      const called = "tool_call_start tool_call_end";
      assert.equal(
        kinds.join(" "),
        `stream_start ${called} ${called} text_end message_end ${ran} ${ran} ` +
          `stream_start ${called} message_end ${ran} stream_start text_end message_end turn_end`,
      );
    });
  }

  // Requirements: K36, K48
  it("mark a failed tool for Anthropic", async () => {
    const turns = [
      { calls: [{ id: "c1", name: "read", args: { path: "a" } }] },
      { text: "Sorry." },
    ];
    await using server = await strictServer("anthropic-messages", ...turns);
    const broken = { ...read, execute: () => Promise.reject(new Error("gone")) };
    await run({ ...configOf(server.baseUrl), apiFormat: "anthropic" }, [broken]);
    const { messages } = server.bodies()[1] as {
      messages: { content: { [field: string]: unknown }[] }[];
    };
    const { type, tool_use_id, is_error, content } = messages.at(-1)?.content[0] ?? {};
    assert.deepEqual([type, tool_use_id, is_error], ["tool_result", "c1", true]);
    assert.match(JSON.stringify(content), /Error: gone/);
  });
});

describe("karl's reading of a stream", () => {
  // Requirements: K43, K44, K45, K52
  it("builds calls by index from fragments, in arrival order", async () => {
    await using server = await loopback(
      streamed(
        piece(0, { id: "c1", function: { name: "read", arguments: "" } }),
        piece(1, { id: "c2", function: { name: "read", arguments: '{"path"' } }),
        piece(0, { function: { arguments: '{"path":' } }),
        piece(0, { function: { arguments: '"a"}' } }),
        piece(1, { function: { arguments: ':"b"}' } }),
        end("tool_calls"),
        "[DONE]",
      ),
      chatText("Ok"),
    );
    const { events } = await run(configOf(server.baseUrl));
    assert.deepEqual(calls(events), [
      ["c1", "read", '{"path":"a"}'],
      ["c2", "read", '{"path":"b"}'],
    ]);
  });

  // Requirements: K44, K45
  it("accepts calls without an index, and with the reason stop or none", async () => {
    for (const last of [[end("stop")], [end("tool_calls")], []]) {
      await using server = await loopback(
        streamed(piece(undefined, readCall), ...last, "[DONE]"),
        chatText("Ok"),
      );
      const { events, text } = await run(configOf(server.baseUrl));
      assert.deepEqual([calls(events), text], [[["c1", "read", '{"path":"a"}']], "Ok"]);
    }
  });

  // Requirements: K23, K46, K52
  it("takes the last usage, also after the finish reason", async () => {
    const usage = (n: number): object => ({
      choices: [],
      usage: { prompt_tokens: n, completion_tokens: 2, total_tokens: n + 2 },
    });
    await using server = await loopback(
      streamed(
        {
          ...delta({ content: "Hi" }),
          ...usage(1),
          choices: [{ index: 0, delta: { content: "Hi" } }],
        },
        end("stop"),
        usage(5),
        "[DONE]",
      ),
    );
    const { events } = await run(configOf(server.baseUrl));
    assert.deepEqual(events.at(-1), { type: "turn_end", usage: { input: 5, output: 2, total: 7 } });
  });

  // Requirements: K21, K43, K52
  it("is the same for single bytes, without spaces, with CRLF and with comments", async () => {
    const body = [
      ": hi",
      `data:${JSON.stringify(delta({ content: "Grüße " }))}`,
      "",
      `data: ${JSON.stringify(delta({ content: "🪢" }, "stop"))}`,
      "",
      "data: [DONE]",
      "",
    ].join("\r\n");
    const dribble: Handler = async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of Buffer.from(body)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    await using server = await loopback(dribble);
    const { events, text } = await run(configOf(server.baseUrl));
    assert.equal(text, "Grüße 🪢");
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    assert.equal(deltas.join(""), text);
  });

  // Requirements: K4, K53
  it("works with a local server without a key, without usage and without [DONE]", async () => {
    await using server = await loopback(
      streamed(piece(0, { id: "", function: readCall.function }), end("stop")),
      streamed(delta({ content: "Ok" }), end("stop")),
    );
    const { text, events } = await run({ ...configOf(server.baseUrl), apiKey: "" });
    assert.equal(text, "Ok");
    assert.equal(server.requests[0]?.headers.authorization, undefined);
    assert.deepEqual(events.at(-1), { type: "turn_end" });
  });
});

describe("karl's server errors", () => {
  it("quote a body unchanged when the placeholder key is a word of it", async () => {
    await using server = await loopback(failing(404, "try ollama pull llama9"));
    const { error } = await run({ ...configOf(server.baseUrl), apiKey: "ollama" });
    assert.equal((error as Error).message, "API error 404: try ollama pull llama9");
  });

  it("contain no part of a key at the point where a long body is cut", async () => {
    for (const before of [4064, 4080, 4088, 4095]) {
      await using server = await loopback(
        failing(401, `${"-".repeat(before)}0123456789abcdef0123456789abcdef is refused`),
      );
      const { error } = await run({
        ...configOf(server.baseUrl),
        apiKey: "0123456789abcdef0123456789abcdef",
      });
      const { message } = error as Error;
      assert.ok(
        message.length <= 4096 + "API error 401: ".length && !message.includes("0123"),
        message.slice(4070),
      );
    }
  });

  it("do not occur for a configuration without an address, which is rejected before sending", async () => {
    const { baseUrl: _, ...config } = configOf("");
    const { events, error } = await run(config as AgentLoopConfig);
    assert.ok(isBowlineError(error) && error.code === "invalid_argument");
    assert.match(error.message, /baseUrl.*https:/);
    assert.deepEqual(events, [{ type: "error", error }]);
  });

  // Requirements: K42, K52
  it("quote status and body without the key, and are not retried", async () => {
    const body = '{"error":{"message":"bad key sk-karl-1"}}';
    await using server = await loopback(failing(401, body), failing(500, "boom"));
    const refused = await run(configOf(server.baseUrl));
    assert.ok(isBowlineError(refused.error));
    assert.equal(refused.error.message, 'API error 401: {"error":{"message":"bad key [key]"}}');
    assert.deepEqual(
      [refused.error.status, refused.error.code, refused.error.retryable],
      [401, "authentication_failed", false],
    );
    assert.deepEqual(
      refused.events.map(({ type }) => type),
      ["stream_start", "error"],
    );
    const broken = await run(configOf(server.baseUrl));
    assert.ok(isBowlineError(broken.error) && broken.error.retryable);
    assert.equal(broken.error.message, "API error 500: boom");
    assert.equal(server.requests.length, 2);
  });

  // Requirements: K42
  it("are read up to a limit when the body never ends", async () => {
    await using server = await loopback((response) => {
      response.writeHead(503);
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(2000), more);
      };
      more();
    });
    const { error } = await run(configOf(server.baseUrl));
    assert.ok(error instanceof Error);
    assert.equal(error.message, `API error 503: ${"x".repeat(4096)}`);
  });

  // Requirements: K35, K43, K52
  it("include errors inside the stream and truncated streams", async () => {
    await using server = await loopback(
      streamed(delta({ content: "Hel" }), { error: { message: "Overloaded", code: 529 } }),
      streamed(delta({ content: "Hel" })),
    );
    const codes: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const { error, events } = await run(configOf(server.baseUrl));
      codes.push(isBowlineError(error) && error.code);
      assert.deepEqual(
        events.map(({ type }) => type),
        ["stream_start", "text_delta", "error"],
      );
    }
    assert.deepEqual(codes, ["overloaded", "stream_truncated"]);
  });

  // Requirements: K6, K13, K39
  it("are an abort when the signal fires, and the connection is closed", async () => {
    const abort = new AbortController();
    await using server = await loopback((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(delta({ content: "Hel" }))}\n\n`);
      setTimeout(() => abort.abort(), 5);
    });
    const { error } = await run({ ...configOf(server.baseUrl), signal: abort.signal });
    assert.ok(isBowlineError(error) && error.code === "aborted");
    while ((await server.open()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
