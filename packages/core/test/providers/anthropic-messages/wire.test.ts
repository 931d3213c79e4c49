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
  over,
  read,
  said,
  sse,
  start,
  stop,
  text,
  toolUse,
} from "./events.ts";

type Json = Record<string, unknown>;

describe("the Messages wire reads", () => {
  it("text, id, the answering model and usage, with cached tokens apart", () => {
    const usage = {
      input_tokens: 3,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 7,
      output_tokens: 1,
    };
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
      events.map((event) =>
        "contentIndex" in event ? `${event.type} ${event.contentIndex}` : event.type,
      ),
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

  // Q030
  it("events by the type in the JSON, or by their name if there is none", () => {
    const events = [...hello, end("end_turn"), over] as Json[];
    const named = (name: (type: string) => string): string =>
      events
        .map((event) => `event: ${name(event.type as string)}\ndata: ${JSON.stringify(event)}\n\n`)
        .join("");
    assert.deepEqual(read(named(() => "message")).message.content, said);
    assert.deepEqual(
      read(sse(...events.map((event) => JSON.stringify(event)))).message.content,
      said,
    );
    const untyped = events
      .map(({ type, ...rest }) => `event: ${String(type)}\ndata: ${JSON.stringify(rest)}\n\n`)
      .join("");
    assert.deepEqual(read(untyped).message.content, said);
  });

  // Q017, Q138, Q160
  it("pings, [DONE] and unknown events as nothing", () => {
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

  // Q139
  it("an error that only the event's name or only its type announces", () => {
    const details = { message: "Overloaded" };
    for (const frame of [
      `event: error\ndata: ${JSON.stringify({ type: "message_stop", ...details })}\n\n`,
      `event: message\ndata: ${JSON.stringify({ type: "error", ...details })}\n\n`,
    ]) {
      const { message } = read(sse(...hello, end("end_turn")) + frame);
      assert.equal(message.stopReason, "error");
      assert.match(message.errorMessage ?? "", /Overloaded/);
    }
  });

  // Q139 to Q141
  it("an error in the stream as a typed error with its status, keeping the partial answer", () => {
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

  // Q142
  it("a stop reason as the end, and an end without one as a truncation", () => {
    assert.deepEqual(ending(answer(...hello, end("end_turn"))), ["stop", "end_turn", undefined]);
    const cutOff = answer(...hello);
    assert.deepEqual(
      [...ending(cutOff), cutOff.error?.retryable],
      ["error", undefined, "stream_truncated", true],
    );
    assert.equal(answer(begin(), ...call(0, "a", "{}")).error?.code, "stream_truncated");
  });

  // Q143, Q144
  it("a repeated message_start once, and one of another answer as corruption", () => {
    const counted = (input_tokens: number): object =>
      begin({ id: "msg_1", usage: { input_tokens } });
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

  // Q145, Q146
  it("usage that is missing, null, malformed or partial, with the last value of each field", () => {
    const usage = (first: unknown, last: unknown): unknown =>
      answer(
        begin({ id: "i", usage: first }),
        ...text(0, "x"),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
        over,
      ).usage;
    assert.deepEqual(usage(undefined, undefined), {});
    assert.deepEqual(usage(null, null), {});
    assert.deepEqual(
      usage({ input_tokens: 0, output_tokens: 1 }, { input_tokens: 50, output_tokens: 7 }),
      {
        input: 50,
        output: 7,
        totalTokens: 57,
      },
    );
    assert.deepEqual(
      usage({ input_tokens: 9, cache_read_input_tokens: null }, { output_tokens: "many" }),
      {
        input: 9,
      },
    );
    assert.deepEqual(usage({ input_tokens: "9" }, { output_tokens: -1 }), { input: 9 });
  });

  // Q147
  it("the last stop reason that is not null", () => {
    assert.deepEqual(ending(answer(...hello, end(null), end("max_tokens"), end(null), over)), [
      "length",
      "max_tokens",
      undefined,
    ]);
  });

  // Q164, Q165, Q162
  it("every stop reason, known or unknown", () => {
    const reason = (value: unknown): unknown[] => ending(answer(...hello, end(value), over));
    assert.deepEqual(reason("stop_sequence"), ["stop", "stop_sequence", undefined]);
    assert.deepEqual(reason("model_context_window_exceeded"), [
      "length",
      "model_context_window_exceeded",
      undefined,
    ]);
    assert.deepEqual(reason("pause_turn"), ["stop", "pause_turn", undefined]);
    assert.equal(answer(...hello, end("pause_turn"), over).paused, true);
    assert.deepEqual(reason("weird"), ["stop", "weird", undefined]);
    // Bridges pass on stop reasons of the wire behind them.
    assert.deepEqual(reason("length"), ["length", "length", undefined]);
    assert.deepEqual(reason("content_filter"), ["error", "content_filter", "content_filtered"]);
    assert.deepEqual(reason("error"), ["error", "error", "server_error"]);
    assert.deepEqual(reason(null), ["stop", undefined, undefined]);
  });

  // Q163
  it("a refusal as an error with its explanation", () => {
    const details = { type: "refusal", explanation: "Not this." };
    const message = answer(
      ...hello,
      { type: "message_delta", delta: { stop_reason: "refusal", stop_details: details } },
      over,
    );
    assert.deepEqual(ending(message), ["error", "refusal", "refusal"]);
    assert.match(message.errorMessage ?? "", /Not this\./);
  });

  it("no content as an empty response, also after empty blocks", () => {
    assert.equal(answer(begin(), end("end_turn"), over).error?.code, "empty_response");
    assert.equal(
      answer(begin(), ...text(0), ...text(1, ""), end("end_turn"), over).error?.code,
      "empty_response",
    );
    assert.deepEqual(
      answer(begin(), ...text(0), ...text(1, "Hello"), end("end_turn"), over).content,
      said,
    );
  });

  // Q018, Q019
  it("a whole answer in one JSON object, and an error in one", () => {
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
      read('{"type":"error","error":{"type":"not_found_error","message":"no model"}}').message.error
        ?.status,
      404,
    );
  });
});
