/** Malformed answers and the resulting errors. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toolCallsOf, type Message } from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { hello } from "../support.ts";
import * as messages from "./anthropic-messages/events.ts";
import { decode } from "./decode.ts";
import * as google from "./google-generate/events.ts";
import * as responses from "./openai-responses/events.ts";

describe("streamed arguments of Gemini", () => {
  it("that repeat a path are incomplete, and keep their first value", () => {
    const message = google.answer(
      google.call({
        name: "f",
        partialArgs: [google.piece("$.a", "1"), google.piece("$.a", "2")],
      }),
      google.end(),
    );
    const [call] = toolCallsOf(message);
    assert.equal(call?.argumentsText, '{"a":"1"');
    assert.ok(call?.argumentsError !== undefined);
  });

  it("that skip an index have no beginning", () => {
    const partialArgs = [google.piece("$.a[1]", "1")];
    const [call] = toolCallsOf(
      google.answer(google.call({ name: "f", partialArgs }), google.end()),
    );
    assert.ok(call?.argumentsError !== undefined);
  });

  it("of a call without a name are corrupt", () => {
    const { error } = google.answer(google.call({ id: "1", args: { a: 1 } }), google.end());
    assert.equal(error?.code, "stream_corrupt");
  });
});

describe("an event whose text has a raw line break", () => {
  it("is repaired, and its text keeps the line break", () => {
    const events = [
      '{"choices":[{"index":0,"delta":{"content":"one\ndata: two"},"finish_reason":null}]}',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
      "[DONE]",
    ];
    const body = events.map((event) => `data: ${event}\n\n`).join("");
    const { message } = decode(openaiChat, [new TextEncoder().encode(body)]);
    assert.deepEqual(message.content, [{ type: "text", text: "one\ntwo" }]);
    assert.equal(message.stopReason, "stop");
  });
});

describe("a Responses answer", () => {
  it("with a streamed refusal is a refusal, even if its end does not repeat it", () => {
    const { error } = responses.answer(
      responses.created(),
      responses.at(0, "refusal.delta", { content_index: 0, delta: "I cannot." }),
      responses.completed(),
    );
    assert.equal(error?.code, "refusal");
  });
});

describe("a Messages stream", () => {
  it("with a piece of arguments without an index, among blocks with one, runs no call", () => {
    const piece = { type: "input_json_delta", partial_json: '{"x":1}' };
    const { stopReason, error } = messages.answer(
      messages.begin(),
      messages.start(0, { type: "tool_use", id: "a", name: "f", input: {} }),
      { type: "content_block_delta", delta: piece },
      messages.stop(0),
      messages.end("tool_use"),
      messages.over,
    );
    assert.deepEqual([stopReason, error?.code], ["error", "stream_corrupt"]);
  });

  it("with an empty text delta before its block begins is read whole", () => {
    const { content, stopReason } = messages.answer(
      messages.begin(),
      messages.delta(0, { type: "text_delta", text: "" }),
      messages.start(0, { type: "text", text: "" }),
      messages.delta(0, { type: "text_delta", text: "Hello" }),
      messages.stop(0),
      messages.end("end_turn"),
      messages.over,
    );
    assert.deepEqual([content, stopReason], [[{ type: "text", text: "Hello" }], "stop"]);
  });

  it("with a null text delta loses nothing else", () => {
    const { content, stopReason } = messages.answer(
      messages.begin(),
      messages.start(0, { type: "text", text: "" }),
      messages.delta(0, { type: "text_delta", text: null }),
      messages.delta(0, { type: "text_delta", text: "Hello" }),
      messages.stop(0),
      messages.end("end_turn"),
      messages.over,
    );
    assert.deepEqual([content, stopReason], [[{ type: "text", text: "Hello" }], "stop"]);
  });
});

it("an undeclared gzip body is named in the error", () => {
  const gzip = Uint8Array.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  const { error } = decode(openaiChat, [gzip]).message;
  assert.equal(error?.code, "unexpected_response");
  assert.match(error?.message ?? "", /undeclared gzip/);
});

describe("a request for thinking", () => {
  const model = getModel("anthropic", "claude-opus-4-1", { api: anthropicMessages.api });
  const answer = (type: "text" | "toolCall"): Message => ({
    role: "assistant",
    content: [
      type === "text"
        ? { type, text: "Hello" }
        : { type, id: "1", name: "read", arguments: { n: 1 } },
    ],
    api: "openai-chat",
    provider: "other",
    model: "other",
    usage: {},
    stopReason: type === "text" ? "stop" : "toolUse",
    timestamp: 1,
  });
  const result: Message = {
    role: "toolResult",
    toolCallId: "1",
    toolName: "read",
    content: [{ type: "text", text: "1" }],
    isError: false,
    timestamp: 1,
  };
  const thinks = (...list: Message[]): boolean => {
    const context = { messages: list, tools: [{ name: "read", description: "", parameters: {} }] };
    return "thinking" in anthropicMessages.encode(model, context, { reasoning: "high" }).body;
  };

  it("is made after an answer without thoughts when a user message follows", () => {
    assert.equal(thinks(hello, answer("text"), hello), true);
  });

  it("is not made within a turn that began without thoughts", () => {
    assert.equal(thinks(hello, answer("toolCall"), result), false);
  });
});
