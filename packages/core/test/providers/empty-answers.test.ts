/** Answers without text or call: which end a run, and which are errors. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool } from "../../src/agent/index.ts";
import { Agent, getModel } from "../../src/index.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { StreamDecoder } from "../../src/providers/decoder.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat, openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { getModel as modelOf } from "../../src/providers/vendors.ts";
import { loopback, streamed } from "../../../../test/support/loopback.ts";

type Json = Record<string, unknown>;

interface Wire {
  readonly wire: Protocol;
  /** An answer with these thoughts, this end word and this number of output tokens. */
  readonly answer: (end: string, thoughts: string, written: number | undefined) => readonly Json[];
  readonly complete: string;
}

const usageOf = (field: string, written: number | undefined): Json =>
  written === undefined ? {} : { usage: { [field]: written } };

const chat: Omit<Wire, "wire"> = {
  complete: "stop",
  answer: (end, thoughts, written) => [
    { choices: [{ index: 0, delta: { reasoning_content: thoughts }, finish_reason: null }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: end }],
      ...usageOf("completion_tokens", written),
    },
  ],
};

const wires: readonly Wire[] = [
  { wire: openaiChat, ...chat },
  { wire: openaiCompatible, ...chat },
  {
    wire: anthropicMessages,
    complete: "end_turn",
    answer: (end, thoughts, written) => [
      { type: "message_start", message: { id: "m" } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: thoughts },
      },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: end },
        ...usageOf("output_tokens", written),
      },
      { type: "message_stop" },
    ],
  },
  {
    wire: openaiResponses,
    complete: "completed",
    answer: (end, thoughts, written) => [
      {
        type: "response.completed",
        response: {
          status: end,
          output:
            thoughts === ""
              ? []
              : [{ type: "reasoning", summary: [{ type: "summary_text", text: thoughts }] }],
          ...usageOf("output_tokens", written),
        },
      },
    ],
  },
  {
    wire: googleGenerate,
    complete: "STOP",
    answer: (end, thoughts, written) => [
      { candidates: [{ content: { parts: [{ text: thoughts, thought: true }] } }] },
      {
        candidates: [{ finishReason: end }],
        ...(written !== undefined && { usageMetadata: { candidatesTokenCount: written } }),
      },
    ],
  },
];

function read(wire: Protocol, events: readonly Json[], followsResults: boolean): AssistantMessage {
  const decoder = new StreamDecoder(wire, modelOf("custom", "m", { baseUrl: "http://x/v1" }), {
    timestamp: 0,
    followsResults,
  });
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  decoder.push(new TextEncoder().encode(body));
  decoder.end();
  if (decoder.failure) decoder.fail(decoder.failure);
  return decoder.message;
}

const outcome = ({ stopReason, error, content }: AssistantMessage): unknown[] => [
  stopReason,
  error?.code,
  error?.retryable,
  content.length,
];

describe("an empty answer", () => {
  for (const [index, { wire, answer, complete }] of wires.entries()) {
    const name = `${wire.api} (${index})`;

    it(`after tool results is a stop if it has a known end word or usage, on ${name}`, () => {
      assert.deepEqual(outcome(read(wire, answer(complete, "", undefined), true)), [
        "stop",
        undefined,
        undefined,
        0,
      ]);
      assert.equal(read(wire, answer("weird", "", 0), true).stopReason, "stop");
      assert.equal(read(wire, answer("weird", "", undefined), true).error?.code, "empty_response");
    });

    it(`to the first message is a retryable error, on ${name}`, () => {
      assert.deepEqual(outcome(read(wire, answer(complete, "", 0), false)), [
        "error",
        "empty_response",
        true,
        0,
      ]);
    });

    it(`with only thoughts is a retryable error, also after tool results, on ${name}`, () => {
      for (const followsResults of [false, true]) {
        const message = read(wire, answer(complete, "hm", 9), followsResults);
        assert.deepEqual(outcome(message), ["error", "empty_response", true, 1]);
        assert.match(message.errorMessage ?? "", /returned thinking but no answer/);
      }
    });
  }

  it("that announces a tool call is an error, also after tool results", () => {
    for (const [wire, end] of [
      [openaiChat, "tool_calls"],
      [anthropicMessages, "tool_use"],
    ] as const) {
      const { answer } = wires.find((other) => other.wire === wire) as Wire;
      assert.equal(read(wire, answer(end, "", 3), true).error?.code, "empty_response");
    }
  });

  // Requirements: X32
  it("ends the run of an agent whose tools have done the work", async () => {
    const called = {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 0, id: "a", function: { name: "save", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
    };
    const nothing = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    await using server = await loopback(streamed(called), streamed(nothing));
    let saved = 0;
    const save = defineTool({
      name: "save",
      description: "Saves.",
      parameters: { type: "object", properties: {} },
      execute: () => `saved ${++saved}`,
    });
    const model = getModel("custom", "m", { baseUrl: server.baseUrl });
    const agent = new Agent({ initialState: { model, tools: [save] } });
    const { reason, turns } = await agent.prompt("Save it.");
    assert.deepEqual([reason, turns, saved, server.requests.length], ["done", 2, 1, 2]);
    assert.equal((await agent.prompt("And?")).reason, "error");
    assert.equal(server.requests.length, 5); // retried twice, like any empty first answer
  });
});
