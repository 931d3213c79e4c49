/** Whole turns: valid calls beside an invalid one, images, and cached tokens. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, defineTool, type StreamFn } from "@bowline/core";
import {
  AnthropicProvider,
  OpenAIProvider,
  runAgentTurn,
  toStreamFn,
  type ChatEvent,
  type ChatParams,
  type ContentBlock,
  type Message,
  type ModelProvider,
  type RunnerOptions,
} from "../../src/gateway/index.ts";
import { chatText, loopback, streamed, type Handler } from "../../../../test/support/loopback.ts";

const add = { name: "add", description: "Adds.", inputSchema: { type: "object", properties: {} } };
const final: ChatEvent = { type: "final", usage: { inputTokens: 1, outputTokens: 1 } };

/** A provider as another author might write it. */
function ownProvider(...answers: unknown[][]): ModelProvider & { readonly asked: ChatParams[] } {
  const asked: ChatParams[] = [];
  return {
    id: "own",
    asked,
    async *chat(params) {
      asked.push({ ...params, messages: structuredClone(params.messages) });
      yield* (answers[asked.length - 1] ?? []) as ChatEvent[];
    },
  };
}

async function turn(
  provider: ModelProvider,
  options: Partial<RunnerOptions> = {},
): Promise<{ events: ChatEvent[]; ran: string[]; messages: Message[] }> {
  const events: ChatEvent[] = [];
  const ran: string[] = [];
  const messages: Message[] = [{ role: "user", content: "go" }];
  await runAgentTurn({
    provider,
    model: "m",
    systemPrompt: "",
    messages,
    tools: [add],
    onEvent: (event) => void events.push(event),
    onToolCall: async (_name, _input, callId) => (ran.push(callId), "42"),
    ...options,
  });
  return { events, ran, messages };
}

/** The results of the last message, as `[id, text, failed]`. */
function resultsIn(messages: readonly Message[]): unknown[] {
  const { content } = messages.at(-1) as Message;
  if (typeof content === "string") return [];
  return content.map((block) =>
    block.type === "tool_result" ? [block.tool_use_id, block.content, block.is_error === true] : [],
  );
}

const chatCalls = (...calls: readonly [id: string, name: string, text: string][]): Handler => {
  const tool_calls = calls.map(([id, name, text], index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  return streamed(
    { choices: [{ index: 0, delta: { tool_calls }, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
};

describe("a turn with invalid calls", () => {
  // Requirements: J23, X5
  it("answers invalid JSON arguments and unknown tools, and runs the other calls", async () => {
    await using server = await loopback(
      chatCalls(["c1", "add", '{"a":1}'], ["c2", "add", '{"a": '], ["c3", "sub", "{}"]),
      chatText("Done."),
    );
    const provider = new OpenAIProvider("k", { baseUrl: server.baseUrl, maxRetries: 0 });
    const { events, ran, messages } = await turn(provider);
    assert.deepEqual(ran, ["c1"]);
    assert.deepEqual(
      events.map((event) => (event.type === "tool_call" ? event.callId : event.type)),
      ["c1", "c3", "delta", "final"],
    );
    const [good, broken, unknown] = resultsIn(messages) as [string, string, boolean][];
    assert.deepEqual(good, ["c1", "42", false]);
    assert.match(String(broken), /^c2,Not run: .*JSON.* You wrote: \{"a": ,true$/);
    assert.match(String(unknown), /^c3,Tool "sub" not found.*add\.,true$/);
    const sent = server.requests[1]?.body ?? "";
    for (const id of ["c1", "c2", "c3"]) assert.ok(sent.includes(`"tool_call_id":"${id}"`), sent);
  });

  it("answers a call of a custom provider whose input is not an object", async () => {
    const inputs = ['{"a":', "[]", null, undefined, 7];
    const calls = inputs.map((input, n) => ({
      type: "tool_call",
      name: "add",
      input,
      callId: `c${n}`,
    }));
    const text = { type: "tool_call", name: "add", input: '{"a":1}', callId: "text" };
    const inputsSeen: unknown[] = [];
    const { ran, messages } = await turn(ownProvider([...calls, text, final], [final]), {
      onToolCall: async (_name, input, id) => (inputsSeen.push([id, input]), "42"),
    });
    assert.deepEqual([inputsSeen, ran], [[["text", { a: 1 }]], []]);
    assert.deepEqual(
      resultsIn(messages).map((result) => (result as unknown[])[2]),
      [...inputs.map(() => true), false],
    );
    // The conversation holds objects, as every provider expects.
    const said = messages[1]?.content as ContentBlock[];
    assert.deepEqual(
      said.map((block) => (block.type === "tool_use" ? block.input : block)),
      [...inputs.map(() => ({})), { a: 1 }],
    );
  });
});

describe("the limit of a turn", () => {
  // Requirements: J24, X16
  it("is maxModelCalls, and Infinity removes it", async () => {
    const call = { type: "tool_call", name: "add", input: {}, callId: "c" };
    for (const [maxModelCalls, calls, end] of [
      [3, 3, "error"],
      [Infinity, 70, "final"],
    ] as const) {
      const answers = Array.from({ length: 70 }, () => [call, final]);
      const { ran, events } = await turn(ownProvider(...answers, [final]), { maxModelCalls });
      assert.deepEqual([ran.length, events.at(-1)?.type], [calls, end]);
    }
  });
});

describe("the tokens of a turn", () => {
  // Requirements: J11, X13
  it("count the whole prompt, cached or not", async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 5000, output_tokens: 1 };
    const about = { id: "m", type: "message", role: "assistant", model: "m", content: [] };
    await using server = await loopback(
      streamed(
        {
          type: "message_start",
          message: { ...about, usage: { ...usage, cache_creation_input_tokens: 100 } },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { output_tokens: 7 },
        },
        { type: "message_stop" },
      ),
    );
    const provider = new AnthropicProvider("k", { baseUrl: server.baseUrl });
    const whole: ChatEvent = { type: "final", usage: { inputTokens: 5103, outputTokens: 7 } };
    const { events } = await turn(provider);
    assert.deepEqual(events.at(-1), whole);
    const params = { model: "m", systemPrompt: "", messages: [], tools: [] };
    const said: ChatEvent[] = [];
    for await (const event of provider.chat({
      ...params,
      messages: [{ role: "user", content: "Hi" }],
    }))
      said.push(event);
    assert.deepEqual(said.at(-1), whole);
  });
});

describe("the images of an agent that uses a provider", () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "a rope" }, image] }),
  });
  const ask = async (streamFn: StreamFn): Promise<void> => {
    const agent = new Agent({ initialState: { tools: [look] }, streamFn });
    const content = [{ type: "text", text: "Like this?" } as const, image];
    const { reason } = await agent.prompt([{ role: "user", content, timestamp: 0 }]);
    assert.equal(reason, "done");
  };

  // Requirements: J5, J6
  it("are blocks of a user message and of tool results", async () => {
    const call = { type: "tool_call", name: "look", input: {}, callId: "c1" };
    const provider = ownProvider([call, final], [{ type: "delta", text: "Yes." }, final]);
    await ask(toStreamFn(provider));
    const [said, , result] = provider.asked[1]?.messages ?? [];
    assert.deepEqual(said, {
      role: "user",
      content: [{ type: "text", text: "Like this?" }, image],
    });
    assert.deepEqual(result?.content, [
      { type: "tool_result", tool_use_id: "c1", content: "a rope", images: [image] },
    ]);
    await using server = await loopback(chatText("Yes."));
    const { messages = [] } = provider.asked[1] ?? {};
    const wire = new OpenAIProvider("k", { baseUrl: server.baseUrl });
    const params = { model: "m", systemPrompt: "", messages, tools: [] };
    for await (const event of wire.chat(params)) assert.notEqual(event.type, "error");
    assert.equal(server.requests[0]?.body.split("data:image/png;base64,AAAA").length, 3);
  });

  it("reach the server of a built-in provider", async () => {
    await using server = await loopback(chatCalls(["c1", "look", "{}"]), chatText("Yes."));
    await ask(toStreamFn(new OpenAIProvider("k", { baseUrl: server.baseUrl })));
    assert.equal(server.requests[0]?.headers.authorization, "Bearer k");
    assert.equal(server.requests[1]?.body.split("data:image/png;base64,AAAA").length, 3);
  });
});

describe("a subclass of a provider", () => {
  it("uses its overridden chat everywhere", async () => {
    class Canned extends OpenAIProvider {
      override async *chat(): AsyncGenerator<ChatEvent> {
        yield { type: "delta", text: "canned" };
        yield final;
      }
    }
    const { events } = await turn(new Canned("k"));
    assert.deepEqual(events, [{ type: "delta", text: "canned" }, final]);
  });
});
