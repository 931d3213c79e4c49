/** Keep-alive words that servers send as events while a model is silent. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toolCallsOf, type AssistantMessage } from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { decode } from "./decode.ts";

const use = { type: "tool_use", id: "c1", name: "add", input: {} };
const item = { type: "function_call", id: "i1", call_id: "c1", name: "add", arguments: "{}" };
/** A call of each wire. */
const answers: readonly (readonly [wire: Protocol, events: readonly object[]])[] = [
  [
    openaiChat,
    [
      {
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index: 0, id: "c1", function: { name: "add", arguments: "{" } }],
            },
          },
        ],
      },
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, function: { arguments: "}" } }] },
            finish_reason: "tool_calls",
          },
        ],
      },
    ],
  ],
  [
    anthropicMessages,
    [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: use },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: "{}" },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ],
  ],
  [
    openaiResponses,
    [
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: 0, delta: "{}" },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { status: "completed", output: [item] } },
    ],
  ],
  [
    googleGenerate,
    [
      {
        candidates: [{ content: { parts: [{ functionCall: { name: "add", args: {} } }] } }],
      },
      { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] },
    ],
  ],
];

/** The answer with `between` before, between and after its events. */
function read(wire: Protocol, events: readonly object[], between: string): AssistantMessage {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(between);
  return decode(wire, [new TextEncoder().encode(`${between}${body}${between}`)]).message;
}

describe("a keep-alive", () => {
  const words = ["ping", "PING", " ping ", "keep-alive", "keepalive", "OPENROUTER PROCESSING"];
  for (const [wire, events] of answers) {
    it(`is ignored, and the answer's call runs, on ${wire.api}`, () => {
      for (const word of words)
        for (const between of [
          `data: ${word}\n\n`,
          `data:${word}\r\n\r\n`,
          `event: ping\ndata: ${word}\n\n`,
          `data: "${word}"\n\n`,
          `data: ${word}\n`, // part of the next event
          `${word}\n\n`,
        ]) {
          const message = read(wire, events, between);
          const about = JSON.stringify([between, message.errorMessage]);
          assert.equal(message.stopReason, "toolUse", about);
          assert.deepEqual(
            toolCallsOf(message).map(({ name, arguments: args }) => [name, args]),
            [["add", {}]],
            about,
          );
        }
    });

    it(`is not recognised with other words, and then no call runs, on ${wire.api}`, () => {
      for (const between of [
        "data: pong\n\n",
        "data: ping ping\n\n",
        "data: ping: timeout\n\n",
        'data: "pong"\n\n',
      ]) {
        const message = read(wire, events, between);
        assert.notEqual(message.stopReason, "toolUse", between);
      }
    });
  }

  it("alone is not an answer", () => {
    for (const [wire] of answers) {
      const message = read(wire, [], "data: ping\n\n");
      assert.equal(message.stopReason, "error");
      assert.equal(message.error?.retryable, true, message.errorMessage);
    }
  });
});
