import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isTerminal } from "../../../src/llm/event.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { begin, calls, delta, end, over, read, sse, start, stop, toolUse } from "./events.ts";
import { conversations } from "./recorded.ts";
import { decode } from "../decode.ts";
import { missing } from "../../../../../test/support/recordings.ts";
import { cpuMs } from "../../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

describe("any stream of a Messages server", () => {
  it("decodes as recorded, and every answer is complete", { skip: missing ?? false }, () => {
    const recorded = conversations();
    assert.ok(recorded.length > 20);
    for (const { file, messages } of recorded) {
      for (const { stopReason, error } of messages)
        assert.deepEqual([stopReason === "error", error], [false, undefined], file);
    }
  });

  it("ends once, adds up and never throws, with events of any order and shape", () => {
    const odd = fc.constantFrom(null, 7, "x", [], {}, { type: 7 }, { type: "text" });
    const index = fc.constantFrom<unknown>(0, 1, 2, undefined, "0");
    const block = fc.constantFrom(
      { type: "text", text: "" },
      { type: "text", text: "seed", citations: [{}] },
      { type: "thinking", thinking: "", signature: "S" },
      { type: "redacted_thinking", data: "D" },
      toolUse("a"),
      toolUse(null, "g", { x: 1 }),
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      { type: "hologram", citations: null },
    );
    const piece = fc.constantFrom(
      { type: "text_delta", text: "t" },
      { type: "thinking_delta", thinking: "h \ud83d" },
      { type: "signature_delta", signature: "S2" },
      { type: "input_json_delta", partial_json: '{"x":' },
      { type: "input_json_delta", partial_json: "1}" },
      { type: "citations_delta", citation: { url: "u" } },
      { type: "hologram_delta", depth: 3 },
    );
    const event = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(index, fc.oneof(block, odd))
          .map(([at, content]) => start(at as number, content as object)),
      },
      {
        weight: 8,
        arbitrary: fc
          .tuple(index, fc.oneof(piece, odd))
          .map(([at, fields]) => delta(at as number, fields as object)),
      },
      { weight: 4, arbitrary: index.map((at) => stop(at as number)) },
      fc.constantFrom<object>(
        begin(),
        end("tool_use", { output_tokens: 1 }),
        end(null),
        { type: "message_delta" },
        { type: "ping" },
      ),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), fc.boolean(), (events, complete) => {
        const { message, events: written } = read(
          sse(begin(), ...events, ...(complete ? [end("end_turn"), over] : [])),
          ["f"],
        );
        assert.equal(written.filter(isTerminal).length, 1);
        assert.ok(isTerminal(written.at(-1)!));
        assert.ok(message.content.every((part) => part !== undefined));
        const ids = calls(message).map((entry) => (entry as unknown[])[0]);
        assert.equal(new Set(ids).size, ids.length);
      }),
      { numRuns: sweep({ long: 100, short: 25 }) },
    );
  });

  it("costs the same for each delta, regardless of earlier output", () => {
    // Work that grows with the text would take minutes; the limit only has to distinguish the two.
    const deltas = Array.from({ length: 20_000 }, (_, n) => [
      delta(0, { type: "signature_delta", signature: `<${n}>` }),
      delta(1, { type: "input_json_delta", partial_json: " " }),
      delta(2, { type: "text_delta", text: "ab" }),
    ]);
    const blocks = [
      start(0, { type: "thinking", thinking: "" }),
      start(1, { type: "server_tool_use", id: "s", input: {} }),
    ];
    const body = new TextEncoder().encode(
      sse(begin(), ...blocks, ...deltas.flat(), end("end_turn"), over),
    );
    const from = cpuMs();
    const { message } = decode(anthropicMessages, [body]);
    assert.ok(cpuMs() - from < 5000);
    assert.deepEqual(
      message.content.map((part) => (part.type === "text" ? part.text.length : part.type)),
      ["thinking", "opaque", 40_000],
    );
  });
});
