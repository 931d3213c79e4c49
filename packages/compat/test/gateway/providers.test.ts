import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AnthropicProvider,
  createProviderRegistry,
  OpenAIProvider,
  runAgentTurn,
  type ChatEvent,
  type ChatParams,
  type Message,
  type ModelProvider,
  type RunnerOptions,
  type Tool,
} from "../../src/gateway/index.ts";
import { failing, loopback, streamed, type Loopback } from "../../../../test/support/loopback.ts";

async function eventsOf(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const ask: ChatParams = {
  model: "some-model",
  systemPrompt: "Be brief.",
  messages: [{ role: "user", content: "What is 2+2?" }],
  tools: [
    {
      name: "add",
      description: "Adds.",
      inputSchema: { type: "object", properties: { a: { type: "number" } } },
    },
  ],
};

const anthropicAnswer = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "some-model",
      content: [],
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let me " } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "add." } },
  { type: "content_block_stop", index: 0 },
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "add", input: {} },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"a"' },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: ":2}" },
  },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 12 } },
  { type: "message_stop" },
];

const openaiAnswer = [
  {
    choices: [{ index: 0, delta: { role: "assistant", content: "Let me " }, finish_reason: null }],
  },
  { choices: [{ index: 0, delta: { content: "add." }, finish_reason: null }] },
  {
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [{ index: 0, id: "call_1", function: { name: "add", arguments: '{"a"' } }],
        },
        finish_reason: null,
      },
    ],
  },
  {
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, function: { arguments: ":2}" } }] },
        finish_reason: null,
      },
    ],
  },
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 12 } },
  "[DONE]",
];

const bodyOf = ({ requests }: Loopback): Record<string, unknown> =>
  JSON.parse(requests[0]?.body ?? "{}") as Record<string, unknown>;

describe("AnthropicProvider", () => {
  // Requirements: J4, J7, J8, J9, J11
  it("emits deltas, whole calls and one final event with usage", async () => {
    await using server = await loopback((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of anthropicAnswer)
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
    const given: ModelProvider = new AnthropicProvider("sk-test", { baseUrl: server.baseUrl });
    assert.equal(given.id, "anthropic");
    const events = await eventsOf(given.chat(ask));
    const calls = events.filter(({ type }) => type !== "delta");
    assert.equal(
      events.map((event) => (event.type === "delta" ? event.text : "")).join(""),
      "Let me add.",
    );
    assert.deepEqual(calls, [
      { type: "tool_call", name: "add", input: { a: 2 }, callId: "toolu_1" },
      { type: "final", usage: { inputTokens: 9, outputTokens: 12 } },
    ]);
    const { tools, system, model } = bodyOf(server);
    assert.match(JSON.stringify(tools), /"name":"add".*"input_schema":/);
    assert.match(JSON.stringify(system), /Be brief/);
    assert.equal(model, "some-model");
    assert.equal(server.requests[0]?.headers["x-api-key"], "sk-test");
  });

  // Requirements: J10
  it("ends with an error event when the API refuses, and does not throw", async () => {
    await using server = await loopback(
      failing(401, {
        type: "error",
        error: { type: "authentication_error", message: "invalid x-api-key" },
      }),
    );
    const events = await eventsOf(
      new AnthropicProvider("sk-bad", { baseUrl: server.baseUrl }).chat(ask),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ["error"],
    );
    assert.match(events[0]?.type === "error" ? events[0].message : "", /invalid x-api-key/);
  });

  // Requirements: J5, J6
  it("sends calls and results of the conversation", async () => {
    await using server = await loopback(failing(400, "no"));
    const messages: Message[] = [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "ok" },
          { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "failed", is_error: true },
        ],
      },
    ];
    await eventsOf(
      new AnthropicProvider("k", { baseUrl: server.baseUrl, maxRetries: 0 }).chat({
        ...ask,
        messages,
      }),
    );
    const sent = JSON.stringify(bodyOf(server).messages);
    assert.match(sent, /"type":"tool_use","id":"toolu_1","name":"add","input":\{"a":1\}/);
    assert.match(sent, /"tool_result".*"is_error":true|"is_error":true.*"tool_result"/);
  });
});

describe("OpenAIProvider", () => {
  // Requirements: J13, J14, J15
  it("emits deltas, whole calls and one final event with usage", async () => {
    await using server = await loopback(streamed(...openaiAnswer));
    const given: ModelProvider = new OpenAIProvider("sk-test", { baseUrl: server.baseUrl });
    assert.equal(given.id, "openai");
    const events = await eventsOf(given.chat(ask));
    assert.equal(
      events.map((event) => (event.type === "delta" ? event.text : "")).join(""),
      "Let me add.",
    );
    assert.deepEqual(
      events.filter(({ type }) => type !== "delta"),
      [
        { type: "tool_call", name: "add", input: { a: 2 }, callId: "call_1" },
        { type: "final", usage: { inputTokens: 9, outputTokens: 12 } },
      ],
    );
    assert.match(
      JSON.stringify(bodyOf(server).tools),
      /"type":"function","function":\{"name":"add"/,
    );
    assert.equal(server.requests[0]?.headers.authorization, "Bearer sk-test");
  });

  // Requirements: J14
  it("ends with an error event when the stream is cut", async () => {
    await using server = await loopback((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(openaiAnswer[0])}\n\n`);
    });
    const events = await eventsOf(
      new OpenAIProvider("k", { baseUrl: server.baseUrl, maxRetries: 0 }).chat(ask),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ["delta", "error"],
    );
  });
});

/** A provider that gives these answers, one per call. */
function provider(...answers: ChatEvent[][]): ModelProvider & { readonly asked: ChatParams[] } {
  const asked: ChatParams[] = [];
  return {
    id: "own",
    asked,
    async *chat(params) {
      asked.push({ ...params, messages: structuredClone(params.messages) });
      yield* answers[asked.length - 1] ?? [];
    },
  };
}

const final = (inputTokens: number, outputTokens: number): ChatEvent => ({
  type: "final",
  usage: { inputTokens, outputTokens },
});
const add: Tool & { requiresApproval: boolean } = {
  name: "add",
  description: "Adds.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" } },
  },
  requiresApproval: true,
};

async function turn(
  given: Partial<RunnerOptions> & Pick<RunnerOptions, "provider">,
): Promise<{ events: ChatEvent[]; messages: Message[] }> {
  const events: ChatEvent[] = [];
  const messages: Message[] = [{ role: "user", content: "go" }];
  const result = await runAgentTurn({
    model: "m",
    systemPrompt: "p",
    messages,
    tools: [],
    onEvent: (event) => void events.push(event),
    onToolCall: async () => "42",
    ...given,
  });
  assert.equal(result, undefined);
  return { events, messages };
}

describe("runAgentTurn", () => {
  // Requirements: J19, J20, J22, J24, J25
  it("makes one model call when there are no tools, and forwards every event", async () => {
    const own = provider([
      { type: "delta", text: "Hi" },
      { type: "delta", text: "." },
      final(3, 2),
    ]);
    const { events } = await turn({ provider: own });
    assert.deepEqual(events, [
      { type: "delta", text: "Hi" },
      { type: "delta", text: "." },
      final(3, 2),
    ]);
    assert.equal(own.asked.length, 1);
    assert.deepEqual(
      [own.asked[0]?.model, own.asked[0]?.systemPrompt, own.asked[0]?.tools],
      ["m", "p", []],
    );
  });

  // Requirements: J21, J23, X12
  it("runs a call, appends its result, calls the model again, and emits one final event with the sum", async () => {
    const call: ChatEvent = { type: "tool_call", name: "add", input: { a: 1 }, callId: "c1" };
    const own = provider(
      [{ type: "delta", text: "Let me see." }, call, final(10, 1)],
      [{ type: "delta", text: "42." }, final(20, 2)],
    );
    const asked: unknown[] = [];
    const { events, messages } = await turn({
      provider: own,
      tools: [add],
      onToolCall: async (...args) => {
        asked.push(args);
        return "42";
      },
    });
    assert.deepEqual(asked, [["add", { a: 1 }, "c1"]]);
    assert.deepEqual(events, [
      { type: "delta", text: "Let me see." },
      call,
      { type: "delta", text: "42." },
      final(30, 3),
    ]);
    const appended: Message[] = [
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          { type: "tool_use", id: "c1", name: "add", input: { a: 1 } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "42" }] },
    ];
    assert.deepEqual(messages.slice(1), appended);
    assert.deepEqual(own.asked[1]?.messages.slice(1), appended);
    const { requiresApproval: _, ...definition } = add;
    assert.deepEqual(own.asked[0]?.tools, [
      { ...definition, inputSchema: { ...definition.inputSchema } },
    ]);
  });

  // Requirements: J24
  it("reports a failed call to the model, and stops on an error", async () => {
    const call: ChatEvent = { type: "tool_call", name: "add", input: {}, callId: "c1" };
    const own = provider([call, final(1, 1)], [{ type: "error", message: "over" }]);
    const onToolCall = (): Promise<string> => Promise.reject(new Error("no hands"));
    const { events } = await turn({ provider: own, tools: [add], onToolCall });
    assert.deepEqual(events, [call, { type: "error", message: "over" }]);
    assert.match(JSON.stringify(own.asked[1]?.messages.at(-1)), /no hands.*is_error/);
  });
});

describe("the registry", () => {
  // Requirements: J2, J29
  it("contains each provider whose key is set", () => {
    const ids = (env: Record<string, string>): string[] => [
      ...createProviderRegistry({ env }).keys(),
    ];
    assert.deepEqual(ids({}), []);
    assert.deepEqual(ids({ ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: " " }), ["anthropic"]);
    assert.deepEqual(ids({ ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" }), ["anthropic", "openai"]);
    assert.ok(
      createProviderRegistry({ env: { OPENAI_API_KEY: "b" } }).get("openai") instanceof
        OpenAIProvider,
    );
  });
});
