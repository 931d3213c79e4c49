/** Behaviour that is the same on every wire. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { messageText, type Message } from "../../src/llm/message.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import type { Model } from "../../src/llm/model.ts";
import { openaiChat, openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { decode } from "./decode.ts";
import { apis, hello } from "../support.ts";

const text = { type: "text", text: "" };
const delta = { type: "text_delta", text: "Hi" };
const answers: readonly (readonly [wire: Protocol, events: readonly object[]])[] = [
  [openaiChat, [{ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }]],
  [
    anthropicMessages,
    [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: text },
      { type: "content_block_delta", index: 0, delta },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ],
  ],
  [
    openaiResponses,
    [
      { type: "response.output_text.delta", output_index: 0, delta: "Hi" },
      { type: "response.completed", response: { status: "completed" } },
    ],
  ],
  [
    googleGenerate,
    [{ candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }],
  ],
];

const read = (wire: Protocol, events: readonly object[]): ReturnType<typeof decode>["message"] =>
  decode(
    wire,
    events.map((event) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)),
  ).message;

describe("every wire", () => {
  it("has a folder in providers, and is in the list of wires and in these tests", () => {
    const providers = join(import.meta.dirname, "../../src/providers");
    const folders = globSync("*/index.ts", { cwd: providers }).map(dirname);
    const wires = folders.filter((folder) => folder !== "proxy").toSorted();
    assert.deepEqual(apis.toSorted(), wires);
    assert.deepEqual(answers.map(([{ api }]) => api).toSorted(), wires);
  });

  for (const [wire, events] of answers)
    it(`ignores an empty error beside an answer and reports any other, on ${wire.api}`, () => {
      for (const error of [null, "", {}, [], false]) {
        const message = read(
          wire,
          events.map((event) => ({ ...event, error })),
        );
        assert.deepEqual(
          [message.stopReason, messageText(message)],
          ["stop", "Hi"],
          JSON.stringify(error),
        );
      }
      for (const error of ["down", { message: "down" }, { code: 500 }]) {
        const [first, ...rest] = events;
        assert.equal(
          read(wire, [{ ...first, error }, ...rest]).stopReason,
          "error",
          JSON.stringify(error),
        );
      }
    });

  for (const wire of [openaiCompatible, anthropicMessages, openaiResponses, googleGenerate])
    // Q126
    it(`adds a user turn after an answer that must not be last, and after no other, on ${wire.api}`, () => {
      const { api } = wire;
      const about = { api, provider: "p", model: "m", usage: {}, timestamp: 1 } as const;
      const said: Message = {
        role: "assistant",
        content: [{ type: "text", text: "One," }],
        stopReason: "stop",
        ...about,
      };
      const ending = (prefill: "none" | undefined, messages: Message[]): unknown => {
        const model: Model = {
          id: "m",
          name: "m",
          api,
          provider: "p",
          baseUrl: "http://m",
          reasoning: false,
          input: ["text"],
        };
        const { body } = wire.encode(
          { ...model, compat: prefill ? { prefill } : {} },
          { messages },
          {},
        );
        const items = body[wire.transcript] as { readonly role: string }[];
        return [items.length, items.at(-1)?.role === "user"];
      };
      assert.deepEqual(ending("none", [hello, said]), [3, true]);
      assert.deepEqual(ending(undefined, [hello, said]), [2, false]);
      assert.deepEqual(ending("none", [hello, said, hello]), [3, true]);
    });
});
