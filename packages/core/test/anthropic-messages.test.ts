import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answer,
  begin,
  call,
  calls,
  delta,
  end,
  ending,
  hello,
  json,
  over,
  read,
  said,
  sse,
  start,
  stop,
  text,
  toolUse,
} from "./anthropic-messages-events.ts";

type Json = Record<string, unknown>;

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
        "start",
        "thinking_start 0",
        "thinking_delta 0",
        "thinking_end 0",
        "text_start 1",
        "text_delta 1",
        "text_end 1",
        "toolcall_start 2",
        "toolcall_delta 2",
        "toolcall_delta 2",
        "toolcall_end 2",
        "done",
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
    const counted = (input_tokens: number): object => begin({ id: "msg_1", usage: { input_tokens } });
    const repeated = answer(counted(5), counted(0), ...hello, end("end_turn"), over);
    assert.deepEqual([repeated.content, repeated.usage], [said, { input: 5 }]);
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
    assert.deepEqual(usage({ input_tokens: 9, cache_read_input_tokens: null }, { output_tokens: "many" }), {
      input: 9,
    });
    assert.deepEqual(usage({ input_tokens: "9" }, { output_tokens: -1 }), { input: 9 });
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
    assert.equal(answer(...hello, end("pause_turn"), over).paused, true);
    assert.deepEqual(reason("weird"), ["stop", "weird", undefined]);
    // Bridges leak the words of the wire behind them.
    assert.deepEqual(reason("length"), ["length", "length", undefined]);
    assert.deepEqual(reason("content_filter"), ["error", "content_filter", "content_filtered"]);
    assert.deepEqual(reason("error"), ["error", "error", "server_error"]);
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

  it("a server's block without a stop, by what comes next (Q153)", () => {
    const unstopped = [begin(), start(0, { type: "server_tool_use", id: "s", input: {} }), json(0, '{"x":1}')];
    const opaque = {
      type: "opaque",
      protocol: "anthropic-messages",
      raw: { ...((unstopped[1] as Json).content_block as Json), input: { x: 1 } },
    };
    assert.deepEqual(answer(...unstopped, start(0, { type: "text", text: "Hello" }), end("end_turn")).content, [
      opaque,
      ...said,
    ]);
    assert.deepEqual(answer(...unstopped, end("end_turn"), { type: "error", error: { message: "late" } }).content, [
      opaque,
    ]);
    assert.deepEqual(answer(...unstopped, over).content, [opaque]);
    assert.deepEqual(answer(...unstopped).content, []);
  });

  it("an empty block that stays open without holding up the next", () => {
    const message = answer(begin(), start(0, { type: "text", text: "" }), start(1, toolUse("a")), json(1, "{}"));
    assert.deepEqual(
      message.content.map((part) => part.type),
      ["text", "toolCall"],
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

  it("an event with a raw tab in it, as the model wrote it (Q150); what was cut stays no JSON", () => {
    const body = sse(begin(), start(0, toolUse("a", "f")), json(0, '{"x":"a~H"}'), stop(0), end("tool_use"), over);
    assert.deepEqual(calls(read(body.replace("~", "\t\\")).message), [["a", "f", { x: "a\t\\H" }]]);
    assert.equal(read(body.replace('~H\\"}"}}', "\tH")).message.error?.code, "stream_corrupt");
    // Read as what nobody knows, an event would be left out of a whole answer.
    for (const damaged of ["content_\tblock_delta", "content\\_block_delta"])
      assert.equal(read(body.replace('"content_block_delta', `"${damaged}`)).message.error?.code, "stream_corrupt");
    assert.equal(read(body.replace("partial_json", "partial\t_json")).message.error?.code, "stream_corrupt");
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
    const [, part] = message.content;
    assert.equal(part?.type === "toolCall" && part.thoughtSignature, JSON.stringify({ caller }));
  });
});
