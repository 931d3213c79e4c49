import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBowlineError } from "../src/errors.ts";
import { reduceEvents, type AssistantMessageEvent } from "../src/llm/event.ts";
import type { AssistantContent, AssistantMessage, Context, Message, ToolResultMessage } from "../src/llm/message.ts";
import type { Model, StreamOptions } from "../src/llm/model.ts";
import { anthropicMessages } from "../src/providers/anthropic-messages/index.ts";
import { getModel } from "../src/providers/vendors.ts";
import { brokenRules } from "./anthropic-messages-rules.ts";
import { contexts, models, options as anyOptions } from "./anthropic-messages-transcripts.ts";
import { byteByByte, cut, decode, loadRecordings, missing } from "./recordings.ts";

type Json = Record<string, unknown>;

/** Decodes a body whole, at every single cut and byte by byte; all must agree, and so must the reducer. */
function read(
  body: string,
  toolNames: readonly string[] = [],
): { message: AssistantMessage; events: AssistantMessageEvent[] } {
  const bytes = new TextEncoder().encode(body);
  const whole = decode(anthropicMessages, [bytes], toolNames);
  const expected = JSON.stringify(whole.events);
  const same = (chunks: Iterable<Uint8Array>, how: string): void =>
    assert.equal(JSON.stringify(decode(anthropicMessages, chunks, toolNames).events), expected, how);
  for (let at = 1; at < bytes.length; at++) same(cut(bytes, [at]), `cut at ${at}`);
  same(byteByByte(bytes), "byte by byte");
  assert.deepEqual(
    reduceEvents(JSON.parse(expected) as AssistantMessageEvent[]),
    JSON.parse(JSON.stringify(whole.message)),
  );
  assert.deepEqual(reduceEvents(whole.events), whole.message);
  return whole;
}

const answer = (...events: (object | string)[]): AssistantMessage => read(sse(...events)).message;

/** Events with their names, as the reference server writes them. */
const sse = (...events: (object | string)[]): string =>
  events
    .map((event) =>
      typeof event === "string"
        ? `data: ${event}\n\n`
        : `event: ${String((event as Json).type)}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join("");

const begin = (message: object = { id: "msg_1", model: "recorded" }): object => ({ type: "message_start", message });
const start = (index: number, content_block: object): object => ({ type: "content_block_start", index, content_block });
const delta = (index: number, fields: object): object => ({ type: "content_block_delta", index, delta: fields });
const stop = (index: number): object => ({ type: "content_block_stop", index });
const end = (stop_reason: unknown, usage?: object): object => ({
  type: "message_delta",
  delta: { stop_reason },
  usage,
});
const over = { type: "message_stop" };

const text = (index: number, ...pieces: string[]): object[] => [
  start(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stop(index),
];
const json = (index: number, partial_json: string): object => delta(index, { type: "input_json_delta", partial_json });
const toolUse = (id: unknown, name = "f", input: unknown = {}): object => ({ type: "tool_use", id, name, input });
const call = (index: number, id: unknown, ...pieces: string[]): object[] => [
  start(index, toolUse(id)),
  ...pieces.map((piece) => json(index, piece)),
  stop(index),
];
const calls = (message: AssistantMessage): unknown[] =>
  message.content.flatMap((part) => (part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : []));
const ending = (message: AssistantMessage): unknown[] => [
  message.stopReason,
  message.rawStopReason,
  message.error?.code,
];
const hello = [begin(), ...text(0, "Hel", "lo")];
const said: AssistantContent[] = [{ type: "text", text: "Hello" }];

describe("the Messages wire reads", () => {
  it("text, id, the model that answered and usage, the cache apart", () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 7, output_tokens: 1 };
    const message = answer(
      begin({ id: "msg_1", model: "m-2026", usage }),
      ...text(0, "Hel", "", "lo"),
      end("end_turn", { output_tokens: 9, output_tokens_details: { thinking_tokens: 2 } }),
      over,
    );
    assert.deepEqual(message.content, said);
    assert.deepEqual(
      [message.responseId, message.responseModel, ...ending(message)],
      ["msg_1", "m-2026", "stop", "end_turn", undefined],
    );
    assert.deepEqual(message.usage, {
      input: 3,
      output: 9,
      cacheRead: 5,
      cacheWrite: 7,
      reasoning: 2,
      totalTokens: 24,
    });
  });

  it("a whole turn as the expected events, in order", () => {
    const { events } = read(
      sse(
        begin(),
        start(0, { type: "thinking", thinking: "", signature: "" }),
        delta(0, { type: "thinking_delta", thinking: "hm" }),
        delta(0, { type: "signature_delta", signature: "S" }),
        stop(0),
        ...text(1, "I look."),
        ...call(2, "toolu_1", '{"x":', "1}"),
        end("tool_use"),
        over,
      ),
    );
    assert.deepEqual(
      events.map((event) => ("contentIndex" in event ? `${event.type} ${event.contentIndex}` : event.type)),
      [
        ...[
          "start",
          "thinking_start 0",
          "thinking_delta 0",
          "thinking_end 0",
          "text_start 1",
          "text_delta 1",
          "text_end 1",
        ],
        ...["toolcall_start 2", "toolcall_delta 2", "toolcall_delta 2", "toolcall_end 2", "done"],
      ],
    );
  });

  it("by the type in the JSON, whatever the event's name, and by the name without one (Q030)", () => {
    const events = [...hello, end("end_turn"), over] as Json[];
    const named = (name: (type: string) => string): string =>
      events.map((event) => `event: ${name(event.type as string)}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    assert.deepEqual(read(named(() => "message")).message.content, said);
    assert.deepEqual(read(sse(...events.map((event) => JSON.stringify(event)))).message.content, said);
    const untyped = events
      .map(({ type, ...rest }) => `event: ${String(type)}\ndata: ${JSON.stringify(rest)}\n\n`)
      .join("");
    assert.deepEqual(read(untyped).message.content, said);
  });

  it("pings, [DONE] and unknown events as nothing (Q017, Q138, Q160)", () => {
    const ping = { type: "ping" };
    const message = answer(
      ping,
      begin(),
      ping,
      { type: "hologram_start", index: 0 },
      ...text(0, "Hello"),
      end("end_turn"),
      "[DONE]",
      over,
      "[DONE]",
    );
    assert.deepEqual([message.content, message.stopReason], [said, "stop"]);
  });

  it("an error in the stream as a typed error with its status, keeping what came (Q139 to Q141)", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const expected = {
      code: "overloaded",
      message: "The server reported an error in the stream: Overloaded",
      status: 529,
      retryable: true,
    };
    const late = answer(...hello, error);
    assert.deepEqual([late.content, late.error], [said, expected]);
    assert.deepEqual(answer(error).error, expected);
    assert.deepEqual(answer(JSON.stringify(error)).error, expected);
    assert.equal(answer(begin(), { error: { message: "odd" } }).error?.code, "server_error");
  });

  it("a stop reason as the end, and the end of the bytes without one as a truncation (Q142)", () => {
    assert.deepEqual(ending(answer(...hello, end("end_turn"))), ["stop", "end_turn", undefined]);
    const cutOff = answer(...hello);
    assert.deepEqual([...ending(cutOff), cutOff.error?.retryable], ["error", undefined, "stream_truncated", true]);
    assert.equal(answer(begin(), ...call(0, "a", "{}")).error?.code, "stream_truncated");
  });

  it("a message_start said again once, and one of another answer as corruption (Q143, Q144)", () => {
    assert.deepEqual(answer(begin(), begin(), ...hello, end("end_turn"), over).content, said);
    const { error } = answer(
      ...hello,
      begin({ id: "msg_2", model: "recorded" }),
      ...text(0, "Hi"),
      end("end_turn"),
      over,
    );
    assert.deepEqual([error?.code, error?.retryable], ["stream_corrupt", true]);
  });

  it("usage that is missing, null, odd or in parts, each field the last that was given (Q145, Q146)", () => {
    const usage = (first: unknown, last: unknown): unknown =>
      answer(
        begin({ id: "i", usage: first }),
        ...text(0, "x"),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
        over,
      ).usage;
    assert.deepEqual(usage(undefined, undefined), {});
    assert.deepEqual(usage(null, null), {});
    assert.deepEqual(usage({ input_tokens: 0, output_tokens: 1 }, { input_tokens: 50, output_tokens: 7 }), {
      input: 50,
      output: 7,
      totalTokens: 57,
    });
    assert.deepEqual(usage({ input_tokens: 9, cache_read_input_tokens: null }, { output_tokens: "7" }), { input: 9 });
  });

  it("the last stop reason that is one (Q147)", () => {
    assert.deepEqual(ending(answer(...hello, end(null), end("max_tokens"), end(null), over)), [
      "length",
      "max_tokens",
      undefined,
    ]);
  });

  it("every stop reason, known or not (Q164, Q165, Q162)", () => {
    const reason = (value: unknown): unknown[] => ending(answer(...hello, end(value), over));
    assert.deepEqual(reason("stop_sequence"), ["stop", "stop_sequence", undefined]);
    assert.deepEqual(reason("model_context_window_exceeded"), ["length", "model_context_window_exceeded", undefined]);
    assert.deepEqual(reason("pause_turn"), ["stop", "pause_turn", undefined]);
    assert.deepEqual(reason("weird"), ["stop", "weird", undefined]);
    assert.deepEqual(reason(null), ["stop", undefined, undefined]);
  });

  it("a refusal as an error with its explanation (Q163)", () => {
    const details = { type: "refusal", explanation: "Not this." };
    const message = answer(
      ...hello,
      { type: "message_delta", delta: { stop_reason: "refusal", stop_details: details } },
      over,
    );
    assert.deepEqual(ending(message), ["error", "refusal", "refusal"]);
    assert.match(message.errorMessage ?? "", /Not this\./);
  });

  it("nothing at all as an empty response, also when blocks came with nothing in them", () => {
    assert.equal(answer(begin(), end("end_turn"), over).error?.code, "empty_response");
    assert.equal(answer(begin(), ...text(0), ...text(1, ""), end("end_turn"), over).error?.code, "empty_response");
    assert.deepEqual(answer(begin(), ...text(0), ...text(1, "Hello"), end("end_turn"), over).content, said);
  });

  it("a whole answer in one JSON object (Q018), and an error in one (Q019)", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "S" },
      { type: "text", text: "Hello" },
      toolUse("a", "f", { x: 1 }),
    ];
    const { message } = read(
      JSON.stringify({
        type: "message",
        id: "msg_1",
        content,
        stop_reason: "tool_use",
        usage: { input_tokens: 1, output_tokens: 2 },
      }),
    );
    assert.deepEqual(message.content.slice(0, 2), [
      { type: "thinking", thinking: "hm", thinkingSignature: "S" },
      ...said,
    ]);
    assert.deepEqual(
      [calls(message), message.stopReason, message.usage.totalTokens],
      [[["a", "f", { x: 1 }]], "toolUse", 3],
    );
    assert.equal(
      read('{"type":"error","error":{"type":"not_found_error","message":"no model"}}').message.error?.status,
      404,
    );
  });
});

describe("content blocks of servers that differ", () => {
  it("text in the start of its block (Q154)", () => {
    const message = answer(
      begin(),
      start(0, { type: "text", text: "Hel" }),
      delta(0, { type: "text_delta", text: "lo" }),
      stop(0),
      end("end_turn"),
      over,
    );
    assert.deepEqual(message.content, said);
  });

  it("interleaved blocks and gaps in the index, in the order of their first appearance (Q152)", () => {
    const message = answer(
      begin(),
      start(4, { type: "text", text: "" }),
      start(1, toolUse("a")),
      delta(4, { type: "text_delta", text: "Hel" }),
      json(1, '{"x":'),
      delta(4, { type: "text_delta", text: "lo" }),
      json(1, "1}"),
      stop(1),
      stop(4),
      ...text(9, "!"),
      end("tool_use"),
      over,
    );
    assert.deepEqual(
      message.content.map((part) => part.type),
      ["text", "toolCall", "text"],
    );
    assert.deepEqual([message.content[0], calls(message)], [said[0], [["a", "f", { x: 1 }]]]);
  });

  it("deltas without a start, and blocks without a stop (Q153)", () => {
    const message = answer(
      begin(),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(1, { type: "text_delta", text: "Hello" }),
      json(2, '{"x":1}'),
      end("end_turn"),
    );
    assert.deepEqual(message.content.slice(0, 2), [{ type: "thinking", thinking: "hm" }, ...said]);
    assert.deepEqual([calls(message), message.stopReason], [[["call_1", "unnamed", { x: 1 }]], "toolUse"]);
    const { events } = read(sse(begin(), delta(0, { type: "text_delta", text: "Hello" }), end("end_turn")));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "text_start", "text_delta", "text_end", "done"],
    );
  });

  it("one index, or none, for blocks of every kind (Q153)", () => {
    for (const index of [0, undefined as unknown as number]) {
      const message = answer(
        begin(),
        start(index, { type: "thinking", thinking: "" }),
        delta(index, { type: "thinking_delta", thinking: "hm" }),
        delta(index, { type: "text_delta", text: "Hello" }),
        start(index, toolUse("a")),
        json(index, "{}"),
        start(index, toolUse("b")),
        stop(index),
        end("tool_use"),
        over,
      );
      assert.deepEqual(message.content.slice(0, 2), [{ type: "thinking", thinking: "hm" }, ...said]);
      assert.deepEqual(calls(message), [
        ["a", "f", {}],
        ["b", "f", {}],
      ]);
    }
  });

  it("thinking with its signature whole, in pieces, repeated, grown, or in the start (Q155, Q156)", () => {
    const signature = (first: string, ...pieces: string[]): unknown => {
      const message = answer(
        begin(),
        start(0, { type: "thinking", thinking: "hm", signature: first }),
        ...pieces.map((piece) => delta(0, { type: "signature_delta", signature: piece })),
        stop(0),
        end("end_turn"),
      );
      return message.content[0]?.type === "thinking" && message.content[0].thinkingSignature;
    };
    assert.equal(signature("", "AB"), "AB");
    assert.equal(signature("", "AB", "CDE"), "ABCDE");
    assert.equal(signature("", "AB", "AB"), "AB");
    assert.equal(signature("", "AB", "ABCD"), "ABCD");
    assert.equal(signature("AB"), "AB");
    assert.equal(signature("AB", "AB"), "AB");
    assert.equal(signature(""), undefined);
  });

  it("thinking that is empty but signed, and thinking that is redacted (Q157, Q158)", () => {
    const message = answer(
      begin(),
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "signature_delta", signature: "S" }),
      stop(0),
      start(1, { type: "redacted_thinking", data: "D" }),
      stop(1),
      ...text(2, "Hello"),
      end("end_turn"),
    );
    assert.deepEqual(message.content, [
      { type: "thinking", thinking: "", thinkingSignature: "S" },
      { type: "thinking", thinking: "", thinkingSignature: "D", redacted: true },
      ...said,
    ]);
  });

  it("the input of a call streamed, absent, or in the start, where deltas replace it (Q148, Q149)", () => {
    const input = (given: unknown, ...pieces: string[]): unknown => {
      const message = answer(
        begin(),
        start(0, toolUse("a", "f", given)),
        ...pieces.map((piece) => json(0, piece)),
        stop(0),
        end("tool_use"),
        over,
      );
      assert.equal(message.stopReason, "toolUse");
      return (
        message.content[0]?.type === "toolCall" && [message.content[0].arguments, message.content[0].argumentsText]
      );
    };
    assert.deepEqual(input({}, '{"x"', ":1}"), [{ x: 1 }, '{"x":1}']);
    assert.deepEqual(input({}, ""), [{}, ""]);
    assert.deepEqual(input(undefined), [{}, ""]);
    assert.deepEqual(input({ city: "Oslo" }), [{ city: "Oslo" }, '{"city":"Oslo"}']);
    assert.deepEqual(input({ city: "Oslo" }, ""), [{ city: "Oslo" }, '{"city":"Oslo"}']);
    assert.deepEqual(input({ city: "Oslo" }, '{"city":"Rome"}'), [{ city: "Rome" }, '{"city":"Rome"}']);
    assert.deepEqual(input({}, '{"x":"a\nb"}'), [{ x: "a\nb" }, '{"x":"a\nb"}']); // Q150
  });

  it("a call cut by the token limit as unusable (Q151), and complete calls whatever the reason (Q166)", () => {
    const message = answer(begin(), ...call(0, "a", '{"city":"Os'), end("max_tokens"), over);
    assert.ok(message.content[0]?.type === "toolCall" && message.content[0].argumentsError !== undefined);
    assert.deepEqual([message.stopReason, calls(message)], ["length", [["a", "f", {}]]]);
    assert.equal(answer(begin(), ...call(0, "a", "{}"), end("end_turn"), over).stopReason, "toolUse");
  });

  it("calls without an id or with one that is taken (Q167, Q040), and names that had to be changed (Q118)", () => {
    const message = answer(
      begin(),
      ...call(0, undefined),
      ...call(1, ""),
      ...call(2, "a"),
      ...call(3, "a"),
      end("tool_use"),
      over,
    );
    assert.deepEqual(
      calls(message).map((entry) => (entry as string[])[0]),
      ["call_1", "call_2", "a", "call_3"],
    );
    const body = sse(begin(), start(0, toolUse("a", "fs_read_file")), stop(0), end("tool_use"), over);
    assert.deepEqual(calls(read(body, ["fs/read file"]).message), [["a", "fs/read file", {}]]);
  });

  it("server tools and unknown blocks whole, with what their deltas brought, between the other parts (Q160, Q161)", () => {
    const message = answer(
      begin(),
      ...text(0, "I search."),
      start(1, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      json(1, '{"query"'),
      json(1, ':"x"}'),
      stop(1),
      start(2, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "u" }] }),
      stop(2),
      start(3, { type: "compaction", content: null }),
      delta(3, { type: "compaction_delta", content: "So " }),
      delta(3, { type: "compaction_delta", content: "far.", depth: { z: 1 } }),
      delta(3, { type: "citations_delta", citation: { url: "u" } }),
      stop(3),
      ...text(4, "Hello"),
      end("end_turn"),
      over,
    );
    assert.deepEqual(message.content, [
      { type: "text", text: "I search." },
      ...[
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "u" }] },
        { type: "compaction", content: "So far.", depth: { z: 1 }, citations: [{ url: "u" }] },
      ].map((raw) => ({ type: "opaque", protocol: "anthropic-messages", raw })),
      ...said,
    ]);
    assert.equal(message.stopReason, "stop");
  });

  it("what begins while a server's block is open behind that block (Q152)", () => {
    const message = answer(
      begin(),
      start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      start(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "Hel" }),
      start(2, toolUse("a")),
      json(2, '{"x":1}'),
      stop(2),
      json(0, '{"query":"x"}'),
      stop(0),
      delta(1, { type: "text_delta", text: "lo" }),
      stop(1),
      end("tool_use"),
      over,
    );
    assert.deepEqual(
      message.content.map((part) => part.type),
      ["opaque", "text", "toolCall"],
    );
    assert.deepEqual([message.content[1], calls(message)], [said[0], [["a", "f", { x: 1 }]]]);
  });

  it("citations with their text, and the caller with its call", () => {
    const citation = { type: "web_search_result_location", url: "u", encrypted_index: "E" };
    const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
    const message = answer(
      begin(),
      start(0, { type: "text", text: "", citations: [] }),
      delta(0, { type: "citations_delta", citation }),
      delta(0, { type: "text_delta", text: "Hello" }),
      stop(0),
      start(1, { ...toolUse("a"), caller }),
      stop(1),
      end("tool_use"),
      over,
    );
    assert.deepEqual(message.content[0], { ...said[0], textSignature: JSON.stringify({ citations: [citation] }) });
    const content = [
      { type: "text", text: "Hello", citations: [citation] },
      { ...toolUse("a"), caller },
    ];
    assert.deepEqual(wire([user("Hi"), { ...message, ...own }])[1]?.content, content);
  });
});

describe("the recordings of Messages servers", { skip: missing ?? false }, () => {
  /** A file may hold several answers of one conversation. */
  const conversations = loadRecordings("anthropic-messages").map(({ file, body }) => {
    const bodies = new TextDecoder().decode(body).split(/(?=^event: message_start$)/m);
    const messages = bodies.map((part) => decode(anthropicMessages, [new TextEncoder().encode(part)]).message);
    return { file, bodies, messages };
  });

  it("are complete answers", () => {
    assert.ok(conversations.length > 20);
    for (const { file, messages } of conversations) {
      for (const { stopReason, error } of messages)
        assert.deepEqual([stopReason === "error", error], [false, undefined], file);
    }
  });

  it("go back to their model block by block as they came", () => {
    for (const { file, bodies, messages } of conversations) {
      const request = encode([user("Hi"), ...messages.map((message) => ({ ...message, ...own }))], {
        reasoning: "low",
      });
      assert.deepEqual(brokenRules(request), [], file);
      const turns = (request.messages as WireMessage[]).filter(({ role }) => role === "assistant");
      assert.deepEqual(
        turns.flatMap(({ content }) => content),
        contentOf(bodies),
        file,
      );
    }
  });
});

/** The content of recorded answers, put together as the reference says, without what a request leaves out. */
function contentOf(bodies: readonly string[]): Json[] {
  const blocks = bodies.flatMap(recordedBlocks).map(({ json: input, caller, citations, ...block }): Json => {
    const direct = block.type === "tool_use" && (caller as Json | undefined)?.type === "direct";
    return {
      ...block,
      ...(typeof input === "string" && input !== "" && { input: JSON.parse(input) as unknown }),
      ...(caller !== undefined && !direct && { caller }),
      ...(Array.isArray(citations) && citations.length > 0 && { citations }),
    };
  });
  const last = blocks.at(-1);
  if (last?.type === "text") last.text = (last.text as string).trimEnd();
  return blocks.filter((block) => block.type !== "text" || (block.text as string).trim() !== "");
}

function recordedBlocks(body: string): Json[] {
  const blocks: Json[] = [];
  for (const line of body.split("\n")) {
    const event = (line.startsWith("data:") ? JSON.parse(line.slice(5)) : {}) as Json;
    if (event.type === "content_block_start") blocks.push({ ...(event.content_block as Json) });
    if (event.type !== "content_block_delta") continue;
    const block = blocks[event.index as number] as Json;
    const { type, partial_json, citation, ...texts } = event.delta as Json;
    if (type === "input_json_delta") block.json = `${String(block.json ?? "")}${String(partial_json)}`;
    else if (type === "citations_delta") block.citations = [...((block.citations ?? []) as unknown[]), citation];
    else for (const [field, value] of Object.entries(texts)) block[field] = `${String(block[field])}${String(value)}`;
  }
  return blocks;
}

interface WireMessage {
  readonly role: string;
  readonly content: Json[];
}

const model = getModel("anthropic", "m");
const own = { api: "anthropic-messages", provider: "anthropic", model: "m" };
const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (content: AssistantContent[], fields: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  ...own,
  usage: {},
  stopReason: "stop",
  timestamp: 1,
  ...fields,
});
const toolCall = (id: string, fields: object = {}): AssistantContent => ({
  type: "toolCall",
  id,
  name: "f",
  arguments: {},
  ...fields,
});
const result = (toolCallId: string, content = "ok", fields: Partial<ToolResultMessage> = {}): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "f",
  content: [{ type: "text", text: content }],
  isError: false,
  timestamp: 1,
  ...fields,
});
const tools = [{ name: "f", description: "F.", parameters: { type: "object", properties: {} } }];
const png = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

function encode(
  messages: Message[],
  options: StreamOptions = {},
  context: Partial<Context> = {},
  target: Model = model,
): Json {
  return anthropicMessages.encode(target, { messages, ...context }, { cacheRetention: "none", ...options }).body;
}

const wire = (messages: Message[], options: StreamOptions = {}): WireMessage[] =>
  encode(messages, options).messages as WireMessage[];

describe("the Messages wire writes", () => {
  it("what was asked for, with the headers of the protocol", () => {
    const context = { systemPrompt: "Be brief.", messages: [user("Hi")], tools };
    const { url, headers, body } = anthropicMessages.encode(model, context, {
      apiKey: " k\n",
      temperature: 0,
      headers: { "anthropic-beta": "b" },
    });
    assert.equal(url, "https://api.anthropic.com/v1/messages");
    assert.deepEqual(headers, {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "anthropic-version": "2023-06-01",
      "x-api-key": "k",
      "anthropic-beta": "b",
    });
    const cache_control = { type: "ephemeral" };
    assert.deepEqual(body, {
      model: "m",
      max_tokens: 8192,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control }] }],
      tools: [{ name: "f", description: "F.", input_schema: { type: "object", properties: {} }, cache_control }],
      temperature: 0,
      stream: true,
    });
  });

  it("no key header without a key (Q136), and nothing of tools without tools (Q109, Q110)", () => {
    const { headers, body } = anthropicMessages.encode(
      model,
      { messages: [user("Hi")], tools: [] },
      { apiKey: " ", toolChoice: "required" },
    );
    assert.equal("x-api-key" in headers, false);
    assert.deepEqual(Object.keys(body), ["model", "max_tokens", "messages", "stream"]);
  });

  it("results first and in one turn with what the user says, errors and images among them (Q168, Q170)", () => {
    const messages = wire([
      user("Hi"),
      user("there"),
      assistant([toolCall("a"), toolCall("b")]),
      user("and hurry"),
      result("b", "no", { isError: true, content: [{ type: "text", text: "no" }, png] }),
      result("a", "", { content: [png] }),
      user("please"),
    ]);
    const block = (text: string): Json => ({ type: "text", text });
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    assert.deepEqual(messages, [
      { role: "user", content: [block("Hi"), block("there")] },
      { role: "assistant", content: [toolUse("a"), toolUse("b")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [image] },
          { type: "tool_result", tool_use_id: "b", content: [block("no")], is_error: true },
          image, // an error may hold text only
          block("and hurry"),
          block("please"),
        ],
      },
    ]);
  });

  it("an answer to every call, a word for an empty result, and no orphans (Q127)", () => {
    const messages = wire([user("Hi"), assistant([toolCall("a"), toolCall("b")]), result("x"), result("b", " ")]);
    const results = messages[2]?.content.map(({ tool_use_id, content, is_error }) => [
      tool_use_id,
      (content as Json[])[0]?.text,
      is_error,
    ]);
    assert.deepEqual(results, [
      ["a", "No result was recorded for this call.", true],
      ["b", "(no output)", undefined],
    ]);
  });

  it("ids that the wire takes, each once, the same on call and result, and stable as the transcript grows (Q041, Q119, Q177)", () => {
    const ids = [
      "call_0",
      "call_0",
      "call_1|fc+/=",
      "call_1_fc___",
      "x".repeat(100),
      `${"x".repeat(99)}y`,
      "",
      "call_0_2",
    ];
    const transcript = ids.flatMap((id) => [user("Hi"), assistant([toolCall(id)]), result(id, `of ${id}`)]);
    const found = wire(transcript).flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
    );
    assert.deepEqual(found, [
      "call_0",
      "call_0_2",
      "call_1_fc___",
      "call_1_fc____2",
      "x".repeat(64),
      `${"x".repeat(62)}_2`,
      "call",
      "call_0_2_2",
    ]);
    assert.deepEqual(brokenRules(encode(transcript)), []);
    for (let turns = 1; turns < ids.length; turns++) {
      const shorter = wire(transcript.slice(0, turns * 3));
      assert.deepEqual(
        shorter,
        wire(transcript)
          .slice(0, shorter.length - 1)
          .concat(shorter.slice(-1)),
      );
    }
    const twice = wire([
      user("Hi"),
      assistant([toolCall("a"), toolCall("a")]),
      result("a", "first"),
      result("a", "second"),
    ]);
    assert.deepEqual(
      twice[2]?.content.map(({ tool_use_id, content }) => [tool_use_id, (content as Json[])[0]?.text]),
      [
        ["a", "first"],
        ["a_2", "second"],
      ],
    );
  });

  it("thinking byte for byte and in its place, to the model it came from only (Q155 to Q159)", () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: " hm\n", thinkingSignature: "S" },
      { type: "thinking", thinking: "", thinkingSignature: "D", redacted: true },
      { type: "thinking", thinking: "", thinkingSignature: "T" },
      { type: "thinking", thinking: "unsigned" },
      { type: "thinking", thinking: "half \ud83d", thinkingSignature: "U" },
      toolCall("a"),
    ];
    const blocks = [
      { type: "thinking", thinking: " hm\n", signature: "S" },
      { type: "redacted_thinking", data: "D" },
      { type: "thinking", thinking: "", signature: "T" },
      toolUse("a"),
    ];
    assert.deepEqual(wire([user("Hi"), assistant(content), result("a")])[1]?.content, blocks);
    assert.deepEqual(wire([user("Hi"), assistant(content, { model: "other" }), result("a")])[1]?.content, [
      toolUse("a"),
    ]);
  });

  it("no thinking where a turn that began without it is continued (Q159)", () => {
    const loop = (first: AssistantContent[]): Json =>
      encode([user("Hi"), assistant([...first, toolCall("a")]), result("a")], { reasoning: "low" }, { tools });
    assert.equal(loop([]).thinking, undefined);
    assert.deepEqual(loop([{ type: "thinking", thinking: "", thinkingSignature: "S" }]).thinking, {
      type: "enabled",
      budget_tokens: 2048,
    });
    const paused = [user("Hi"), assistant([{ type: "thinking", thinking: "", thinkingSignature: "S" }, ...said])];
    assert.deepEqual(
      wire(paused)[1]?.content.map(({ type }) => type),
      ["text"],
    );
    assert.deepEqual(
      wire(paused, { reasoning: "low" })[1]?.content.map(({ type }) => type),
      ["thinking", "text"],
    );
  });

  it("a budget below max_tokens, added on top where the model has room (Q175)", () => {
    const limits = (options: StreamOptions, overrides: Partial<Model> = {}): unknown[] => {
      const body = encode([user("Hi")], options, {}, { ...model, ...overrides });
      return [body.max_tokens, (body.thinking as Json | undefined)?.budget_tokens];
    };
    assert.deepEqual(limits({}), [8192, undefined]);
    assert.deepEqual(limits({}, { maxTokens: 64_000 }), [64_000, undefined]);
    assert.deepEqual(limits({ reasoning: "medium" }), [16_384, 8192]);
    assert.deepEqual(limits({ reasoning: "xhigh", maxTokens: 4000 }, { maxTokens: 64_000 }), [36_768, 32_768]);
    assert.deepEqual(limits({ reasoning: "high" }, { maxTokens: 8192 }), [8192, 7168]);
    assert.deepEqual(limits({ reasoning: "low", thinkingBudgets: { low: 5 } }), [9216, 1024]);
    assert.deepEqual(limits({ reasoning: "high" }, { maxTokens: 1024 }), [1024, undefined]);
    assert.deepEqual(limits({ reasoning: "high" }, { reasoning: false }), [8192, undefined]);
  });

  it("an effort where the model thinks as it sees fit, and neither temperature nor a forced tool with it (Q112, Q113)", () => {
    const adaptive = { ...model, compat: { adaptiveThinking: true } };
    const body = encode(
      [user("Hi")],
      { reasoning: "minimal", temperature: 1, toolChoice: "required" },
      { tools },
      adaptive,
    );
    assert.deepEqual(
      [body.thinking, body.output_config, body.max_tokens],
      [{ type: "adaptive" }, { effort: "low" }, 8192],
    );
    assert.deepEqual([body.temperature, body.tool_choice], [undefined, { type: "auto" }]);
  });

  it("each tool choice in the words of the wire", () => {
    const choice = (toolChoice: NonNullable<StreamOptions["toolChoice"]>): unknown =>
      encode([user("Hi")], { toolChoice }, { tools }).tool_choice;
    assert.deepEqual(
      [choice("auto"), choice("none"), choice("required"), choice({ name: "f" })],
      [{ type: "auto" }, { type: "none" }, { type: "any" }, { type: "tool", name: "f" }],
    );
  });

  it("cache marks for an hour or not at all, on the last of what the user said (Q174)", () => {
    const messages = [user("Hi"), assistant([toolCall("a")]), result("a"), assistant(said)];
    const marked = JSON.stringify(encode(messages, { cacheRetention: "long" }, { tools, systemPrompt: "S" }));
    assert.equal(marked.split('"cache_control":{"type":"ephemeral","ttl":"1h"}').length - 1, 3);
    assert.match(marked, /"tool_result"[^[]*\[[^\]]*\],"cache_control"/);
    assert.ok(!JSON.stringify(encode(messages, {}, { tools, systemPrompt: "S" })).includes("cache_control"));
  });

  it("server blocks as they came, but not half a pair, and an open one only while its turn goes on (Q161, Q162)", () => {
    const opaque = (raw: unknown, protocol = "anthropic-messages"): AssistantContent => ({
      type: "opaque",
      protocol,
      raw,
    });
    const use = (id: string): Json => ({ type: "server_tool_use", id, name: "web_search", input: {} });
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] };
    const paused = assistant([
      opaque(use("s1")),
      opaque(found),
      ...said,
      opaque({ type: "x" }, "other"),
      opaque(use("s2")),
    ]);
    const block = { type: "text", text: "Hello" };
    assert.deepEqual(wire([user("Hi"), paused])[1]?.content, [use("s1"), found, block, use("s2")]);
    assert.deepEqual(wire([user("Hi"), paused, user("Stop")])[1]?.content, [use("s1"), found, block]);
    const rest = assistant([opaque({ ...found, tool_use_id: "s2" }), opaque({ ...found, tool_use_id: "s3" }), ...said]);
    assert.deepEqual(
      wire([user("Hi"), paused, rest, user("Go on")])[1]?.content.map((one) => one.id ?? one.tool_use_id ?? one.text),
      ["s1", "s1", "Hello", "s2", "s2", "Hello"],
    );
  });

  it("tools that are only history, so that calls are never without (Q111)", () => {
    const body = encode([user("Hi"), assistant([toolCall("a", { name: "old tool" })]), result("a")]);
    assert.deepEqual(
      [(body.tools as Json[]).map(({ name }) => name), body.tool_choice],
      [["old_tool"], { type: "none" }],
    );
  });

  it("well-formed text and arguments (Q130), no trailing space at the end (Q172), a user's turn at the start", () => {
    const messages = wire([
      assistant([toolCall("a", { arguments: { "\ud83d": ["\ude00", { __proto__: null, x: "a\u0000b" }] } })]),
      assistant([{ type: "text", text: "So \n" }]),
    ]);
    assert.equal(messages[0]?.role, "user");
    assert.deepEqual(messages[1]?.content[0]?.input, { "\ufffd": ["\ufffd", { x: "ab" }] });
    assert.deepEqual(messages.at(-1)?.content, [{ type: "text", text: "So" }]);
  });

  it("an image that the server cannot read as words", () => {
    const [message] = wire([
      {
        role: "user",
        content: [
          { ...png, mimeType: "image/jpg" },
          { ...png, mimeType: "image/tiff" },
        ],
        timestamp: 1,
      },
    ]);
    assert.equal((message?.content[0]?.source as Json).media_type, "image/jpeg");
    assert.match(String(message?.content[1]?.text), /image\/tiff/);
  });

  it("nothing for no messages, two tools of one name, and metadata but the user's id", () => {
    const invalid = (error: unknown): boolean => isBowlineError(error) && error.code === "invalid_argument";
    assert.throws(() => encode([user(" ")]), invalid);
    assert.throws(
      () =>
        encode(
          [user("Hi")],
          {},
          {
            tools: [
              { ...tools[0]!, name: "a.b" },
              { ...tools[0]!, name: "a b" },
            ],
          },
        ),
      invalid,
    );
    assert.deepEqual(encode([user("Hi")], { metadata: { user_id: "u", secret: "s" } }).metadata, { user_id: "u" });
    assert.equal(encode([user("Hi")], { metadata: { user_id: 7 } }).metadata, undefined);
  });

  it("a request that breaks no rule, whatever the transcript", () => {
    fc.assert(
      fc.property(models, contexts, anyOptions, (target, context, options) => {
        const before = JSON.stringify(context);
        const withUser = { ...context, messages: [...context.messages, user("Hi")] };
        for (const each of [context, withUser]) {
          let body: Json;
          try {
            ({ body } = anthropicMessages.encode(target, each, options));
          } catch (error) {
            assert.ok(each === context && isBowlineError(error) && error.code === "invalid_argument");
            continue; // nothing in it for a model to see
          }
          assert.deepEqual(brokenRules(body), [], JSON.stringify(body));
        }
        assert.equal(JSON.stringify(context), before);
      }),
      { numRuns: 1000 },
    );
  });
});
