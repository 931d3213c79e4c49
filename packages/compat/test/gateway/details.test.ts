/** Details of the providers and the runner of seed 003 that no other test covers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AnthropicProvider,
  createProviderRegistry,
  OpenAIProvider,
  runAgentTurn,
  type ChatEvent,
  type ChatParams,
  type RunnerOptions,
} from "../../src/gateway/index.ts";
import { chatText, failing, loopback, streamed } from "../../../../test/support/loopback.ts";

const ask: ChatParams = {
  model: "some-model",
  systemPrompt: "Be brief.",
  messages: [{ role: "user", content: "Hi" }],
  tools: [],
};
const add = { name: "add", description: "Adds.", inputSchema: { type: "object", properties: {} } };
const final: ChatEvent = { type: "final", usage: { inputTokens: 1, outputTokens: 1 } };
const call: ChatEvent = { type: "tool_call", name: "add", input: {}, callId: "c1" };

async function eventsOf(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("a provider", () => {
  // Requirements: J7, J13, J14
  it("for OpenAI sends the prompt first and a limit if set, and ends a refused request with an error", async () => {
    await using server = await loopback(
      chatText("Hello."),
      failing(401, { error: { message: "bad key" } }),
    );
    const provider = new OpenAIProvider("sk-test", { baseUrl: server.baseUrl });
    assert.equal((await eventsOf(provider.chat({ ...ask, maxTokens: 9 }))).at(-1)?.type, "final");
    const { messages, tools, ...body } = JSON.parse(server.requests[0]?.body ?? "{}") as Record<
      string,
      unknown
    >;
    assert.deepEqual(messages, [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hi" },
    ]);
    assert.deepEqual([tools, body.model, body.max_completion_tokens], [undefined, "some-model", 9]);
    const [refused, ...more] = await eventsOf(provider.chat(ask));
    assert.ok(
      refused?.type === "error" && refused.message.includes("bad key"),
      JSON.stringify(refused),
    );
    assert.deepEqual(more, []);
  });

  // Requirements: J9, J14, X5
  it("emits an error that names the call instead of a call with invalid JSON arguments", async () => {
    const broken = '{"a": ';
    const block = { type: "tool_use", id: "t", name: "add", input: {} };
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: {},
    };
    const onMessages = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: broken },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    ];
    const tool_calls = [{ index: 0, id: "c", function: { name: "add", arguments: broken } }];
    const onChat = [
      { choices: [{ index: 0, delta: { tool_calls }, finish_reason: "tool_calls" }] },
      "[DONE]",
    ];
    for (const [Provider, answer] of [
      [AnthropicProvider, onMessages],
      [OpenAIProvider, onChat],
    ] as const) {
      await using server = await loopback(streamed(...answer));
      const [error, ...more] = await eventsOf(
        new Provider("k", { baseUrl: server.baseUrl, maxRetries: 0 }).chat({
          ...ask,
          tools: [add],
        }),
      );
      assert.ok(error?.type === "error", JSON.stringify(error));
      assert.match(error.message, /call of add cannot be run: .*JSON/);
      assert.deepEqual(more, []);
    }
  });

  // Requirements: J7
  it("cancels its request when the signal fires, and emits an error event", async () => {
    for (const Provider of [AnthropicProvider, OpenAIProvider]) {
      const abort = new AbortController();
      await using server = await loopback((response) => {
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(": hello\n\n", () => abort.abort());
      });
      const provider = new Provider("k", { baseUrl: server.baseUrl });
      const events = await eventsOf(provider.chat({ ...ask, signal: abort.signal }));
      assert.deepEqual(
        events.map(({ type }) => type),
        ["error"],
      );
    }
  });
});

describe("runAgentTurn", () => {
  type Turn = { events: ChatEvent[]; ran: string[] };
  const turn = async (
    answers: ChatEvent[][],
    options: Partial<RunnerOptions> = {},
  ): Promise<Turn> => {
    const events: ChatEvent[] = [];
    const ran: string[] = [];
    await runAgentTurn({
      provider: {
        id: "own",
        async *chat() {
          yield* answers.shift() ?? [];
        },
      },
      model: "m",
      systemPrompt: "",
      messages: [{ role: "user", content: "go" }],
      tools: [add],
      onEvent: (event) => void events.push(event),
      onToolCall: async (_name, _input, callId) => {
        ran.push(`${callId} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        ran.push(`${callId} ends`);
        return "";
      },
      ...options,
    });
    return { events, ran };
  };

  // Requirements: J23
  it("runs the calls of an answer one after the other", async () => {
    const { ran } = await turn([[call, { ...call, callId: "c2" }, final], [final]]);
    assert.deepEqual(ran, ["c1 begins", "c1 ends", "c2 begins", "c2 ends"]);
  });

  // Requirements: J24
  it("runs no calls of a failed answer, and ends with one error", async () => {
    const error: ChatEvent = { type: "error", message: "over" };
    assert.deepEqual(await turn([[call, error], [final]]), { events: [call, error], ran: [] });
    const cut = await turn([[call], [final]]);
    assert.deepEqual(
      [cut.ran.length, ...cut.events.map(({ type }) => type)],
      [0, "tool_call", "error"],
    );
  });

  // Requirements: J24
  it("stops a model that calls tools endlessly, with an error", async () => {
    const { events, ran } = await turn(Array.from({ length: 60 }, () => [call, final]));
    assert.deepEqual([ran.length / 2, events.at(-1)?.type], [50, "error"]);
  });

  // Requirements: J19
  it("ends with an error when its signal fires, and makes no further model call", async () => {
    const abort = new AbortController();
    const onToolCall = async (): Promise<string> => (abort.abort(), "");
    const { events } = await turn([[call, final], [final]], { signal: abort.signal, onToolCall });
    assert.deepEqual(
      events.map(({ type }) => type),
      ["tool_call", "error"],
    );
  });
});

describe("the registry", () => {
  // Requirements: J29
  it("reads the keys of the process environment by default", () => {
    const { ANTHROPIC_API_KEY = "", OPENAI_API_KEY = "" } = process.env;
    try {
      Object.assign(process.env, { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "key" });
      assert.deepEqual([...createProviderRegistry().keys()], ["openai"]);
    } finally {
      Object.assign(process.env, { ANTHROPIC_API_KEY, OPENAI_API_KEY });
    }
  });
});
