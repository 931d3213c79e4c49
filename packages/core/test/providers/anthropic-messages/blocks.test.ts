import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answer,
  begin,
  call,
  calls,
  delta,
  end,
  json,
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

describe("from servers that deviate, the Messages wire reads", () => {
  // Q154
  it("text in the start event of its block", () => {
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

  // Q152
  it("interleaved blocks and gaps in the index, ordered by first appearance", () => {
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

  // Q153
  it("deltas without a start, and blocks without a stop", () => {
    const message = answer(
      begin(),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(1, { type: "text_delta", text: "Hello" }),
      json(2, '{"x":1}'),
      end("end_turn"),
    );
    assert.deepEqual(message.content.slice(0, 2), [{ type: "thinking", thinking: "hm" }, ...said]);
    assert.deepEqual(
      [calls(message), message.stopReason],
      [[["call_1", "unnamed", { x: 1 }]], "error"],
    );
    const { events } = read(
      sse(begin(), delta(0, { type: "text_delta", text: "Hello" }), end("end_turn")),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "text_start", "text_delta", "text_end", "done"],
    );
  });

  // Q153
  it("a server tool block without a stop, ended by the next event", () => {
    const unstopped = [
      begin(),
      start(0, { type: "server_tool_use", id: "s", input: {} }),
      json(0, '{"x":1}'),
    ];
    const opaque = {
      type: "opaque",
      protocol: "anthropic-messages",
      raw: { ...((unstopped[1] as Json).content_block as Json), input: { x: 1 } },
    };
    assert.deepEqual(
      answer(...unstopped, start(0, { type: "text", text: "Hello" }), end("end_turn")).content,
      [opaque, ...said],
    );
    assert.deepEqual(
      answer(...unstopped, end("end_turn"), { type: "error", error: { message: "late" } }).content,
      [opaque],
    );
    assert.deepEqual(answer(...unstopped, over).content, [opaque]);
    assert.deepEqual(answer(...unstopped).content, []);
  });

  it("an empty block that stays open, without delaying the next one", () => {
    const message = answer(
      begin(),
      start(0, { type: "text", text: "" }),
      start(1, toolUse("a")),
      json(1, "{}"),
    );
    assert.deepEqual(
      message.content.map((part) => part.type),
      ["text", "toolCall"],
    );
  });

  // Q153
  it("one index, or none, for blocks of every kind", () => {
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
      assert.deepEqual(message.content.slice(0, 2), [
        { type: "thinking", thinking: "hm" },
        ...said,
      ]);
      assert.deepEqual(calls(message), [
        ["a", "f", {}],
        ["b", "f", {}],
      ]);
    }
  });

  // Q155, Q156
  it("thinking whose signature is whole, in pieces, repeated, growing, or in the start event", () => {
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

  // Q157, Q158
  it("thinking that is empty but signed, and thinking that is redacted", () => {
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

  // Q148, Q149
  it("the input of a call streamed, absent, or in the start event, where deltas replace it", () => {
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
        message.content[0]?.type === "toolCall" && [
          message.content[0].arguments,
          message.content[0].argumentsText,
        ]
      );
    };
    assert.deepEqual(input({}, '{"x"', ":1}"), [{ x: 1 }, '{"x":1}']);
    assert.deepEqual(input({}, ""), [{}, ""]);
    assert.deepEqual(input(undefined), [{}, ""]);
    assert.deepEqual(input({ city: "Oslo" }), [{ city: "Oslo" }, '{"city":"Oslo"}']);
    assert.deepEqual(input({ city: "Oslo" }, ""), [{ city: "Oslo" }, '{"city":"Oslo"}']);
    assert.deepEqual(input({ city: "Oslo" }, '{"city":"Rome"}'), [
      { city: "Rome" },
      '{"city":"Rome"}',
    ]);
    assert.deepEqual(input({ city: "Oslo" }, " "), [{ city: "Oslo" }, '{"city":"Oslo"}']);
    assert.deepEqual(input({ city: "Oslo" }, '{"city":"Rome"}', "\n"), [
      { city: "Rome" },
      '{"city":"Rome"}\n',
    ]);
    assert.deepEqual(input({}, '{"x":"a\nb"}'), [{ x: "a\nb" }, '{"x":"a\nb"}']); // Q150
  });

  // Q150
  it("an event with a raw tab as the model wrote it, and a cut event as corrupt", () => {
    const body = sse(
      begin(),
      start(0, toolUse("a", "f")),
      json(0, '{"x":"a~H"}'),
      stop(0),
      end("tool_use"),
      over,
    );
    assert.deepEqual(calls(read(body.replace("~", "\t\\")).message), [["a", "f", { x: "a\t\\H" }]]);
    assert.equal(read(body.replace('~H\\"}"}}', "\tH")).message.error?.code, "stream_corrupt");
    // A damaged event type must not be ignored as unknown, because the answer would then lack this
    // event.
    for (const damaged of ["content_\tblock_delta", "content\\_block_delta"])
      assert.equal(
        read(body.replace('"content_block_delta', `"${damaged}`)).message.error?.code,
        "stream_corrupt",
      );
    assert.equal(
      read(body.replace("partial_json", "partial\t_json")).message.error?.code,
      "stream_corrupt",
    );
  });

  // Q151, Q166
  it("a call cut by the token limit as unusable, and complete calls with any stop reason", () => {
    const message = answer(begin(), ...call(0, "a", '{"city":"Os'), end("max_tokens"), over);
    assert.ok(
      message.content[0]?.type === "toolCall" && message.content[0].argumentsError !== undefined,
    );
    assert.deepEqual([message.stopReason, calls(message)], ["length", [["a", "f", {}]]]);
    assert.equal(
      answer(begin(), ...call(0, "a", "{}"), end("end_turn"), over).stopReason,
      "toolUse",
    );
  });

  // Q167, Q040, Q118
  it("calls without an id or with a duplicate one, and names that had to be changed", () => {
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
    const body = sse(
      begin(),
      start(0, toolUse("a", "fs_read_file")),
      stop(0),
      end("tool_use"),
      over,
    );
    assert.deepEqual(calls(read(body, ["fs/read file"]).message), [["a", "fs/read file", {}]]);
  });

  // Q160, Q161
  it("server tools and unknown blocks whole, with their deltas, between the other parts", () => {
    const message = answer(
      begin(),
      ...text(0, "I search."),
      start(1, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      json(1, '{"query"'),
      json(1, ':"x"}'),
      stop(1),
      start(2, {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: [{ url: "u" }],
      }),
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

  // Q152
  it("a block that begins inside a server tool block after it", () => {
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
    assert.deepEqual(message.content[0], {
      ...said[0],
      textSignature: JSON.stringify({ citations: [citation] }),
    });
    const [, source, part] = message.content;
    assert.deepEqual(source, { type: "source", name: "u", textIndex: 0 });
    assert.equal(part?.type === "toolCall" && part.thoughtSignature, JSON.stringify({ caller }));
  });
});
