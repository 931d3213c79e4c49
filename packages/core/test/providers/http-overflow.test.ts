/**
 * Conversations too long for a server that does not report it: detected by its token counts, or by
 * an empty answer (Q244).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import type { Model, StreamFn } from "../../src/llm/model.ts";
import { streamAnthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { streamGoogleGenerate } from "../../src/providers/google-generate/index.ts";
import { streamOpenaiChat, streamOpenaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { streamOpenaiResponses } from "../../src/providers/openai-responses/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { asEvents, data, finish, say } from "../transport/http-case.ts";
import { http, serveBytes } from "../transport/http-server.ts";

interface Counts {
  readonly read: number;
  /** The cached part of `read`. */
  readonly cached: number;
  readonly written?: number;
}

interface Wire {
  readonly api: string;
  readonly stream: StreamFn;
  /** An answer with `text`, or one cut by a limit, with its counts. */
  readonly answer: (text: string, counts: Counts, isCut?: boolean) => object[];
}

const chat: Wire["answer"] = (text, { read, cached, written }, isCut = false) => [
  ...(text === "" ? [] : [say(text)]),
  {
    ...finish(isCut ? "length" : "stop"),
    usage: {
      prompt_tokens: read,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens: written,
    },
  },
];

const wires: readonly Wire[] = [
  { api: "openai-chat", stream: streamOpenaiChat, answer: chat },
  { api: "openai-chat", stream: streamOpenaiCompatible, answer: chat },
  {
    api: "anthropic-messages",
    stream: streamAnthropicMessages,
    answer: (text, { read, cached, written }, isCut = false) => [
      {
        type: "message_start",
        message: {
          id: "m1",
          usage: { input_tokens: read - cached, cache_read_input_tokens: cached },
        },
      },
      ...(text === ""
        ? []
        : [
            { type: "content_block_start", index: 0, content_block: { type: "text", text } },
            { type: "content_block_stop", index: 0 },
          ]),
      {
        type: "message_delta",
        delta: { stop_reason: isCut ? "max_tokens" : "end_turn" },
        usage: { output_tokens: written },
      },
      { type: "message_stop" },
    ],
  },
  {
    api: "openai-responses",
    stream: streamOpenaiResponses,
    answer: (text, { read, cached, written }, isCut = false) => [
      {
        type: isCut ? "response.incomplete" : "response.completed",
        response: {
          id: "r1",
          status: isCut ? "incomplete" : "completed",
          incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
          output:
            text === "" ? [] : [{ type: "message", content: [{ type: "output_text", text }] }],
          usage: {
            input_tokens: read,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: written,
          },
        },
      },
    ],
  },
  {
    api: "google-generate",
    stream: streamGoogleGenerate,
    answer: (text, { read, cached, written }, isCut = false) => [
      {
        candidates: [
          {
            content: { parts: text === "" ? [] : [{ text }] },
            finishReason: isCut ? "MAX_TOKENS" : "STOP",
          },
        ],
        usageMetadata: {
          promptTokenCount: read,
          cachedContentTokenCount: cached,
          candidatesTokenCount: written,
        },
      },
    ],
  },
];

async function ask(
  { api, stream }: Wire,
  events: object[],
  contextWindow?: number,
  cutsPrompt = true,
): Promise<AssistantMessage> {
  await using server = await serveBytes([http(200, asEvents, data(...events))]);
  const window: Partial<Model> =
    contextWindow === undefined ? {} : { contextWindow, compat: { cutsPrompt } };
  const model = getModel("custom", "the-model", { baseUrl: `${server.origin}/v1`, api, ...window });
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
  let last: AssistantMessage | undefined;
  for await (const event of await stream(model, context, { random: () => 0 })) {
    if (event.type === "done") last = event.message;
    else if (event.type === "error") last = event.error;
  }
  assert.equal(server.requests.length, 1);
  assert.ok(last);
  return last;
}

for (const wire of wires) {
  describe(`a conversation too long for a server of ${wire.api}${wire.stream === streamOpenaiCompatible ? " in dialects" : ""}`, () => {
    // Q244
    it("is detected by the input tokens, cached or not: the answer becomes an error and keeps its text", async () => {
      const events = wire.answer("Hello.", { read: 8193, cached: 8000, written: 3 });
      const message = await ask(wire, events, 8192);
      assert.deepEqual(
        [message.stopReason, message.error?.code, message.error?.retryable, messageText(message)],
        ["error", "context_overflow", false, "Hello."],
      );
      assert.match(message.errorMessage ?? "", /8193 tokens.*8192/);
      assert.equal((message.usage.input ?? 0) + (message.usage.cacheRead ?? 0), 8193);
    });

    // Q244
    it("is not assumed if the server is not known to answer truncated conversations", async () => {
      const events = wire.answer("Hello.", { read: 320_032, cached: 8000, written: 3 });
      const message = await ask(wire, events, 8192, false);
      assert.deepEqual([message.stopReason, messageText(message)], ["stop", "Hello."]);
    });

    // Q244
    it("is not assumed for a conversation that just fits, or an unknown window", async () => {
      const events = wire.answer("Hello.", { read: 8192, cached: 0, written: 3 });
      assert.equal((await ask(wire, events, 8192)).stopReason, "stop");
      assert.equal((await ask(wire, events)).stopReason, "stop");
    });

    // Q244
    it('is detected by an empty answer with stop reason "length"', async () => {
      const message = await ask(wire, wire.answer("", { read: 8192, cached: 0, written: 0 }, true));
      assert.deepEqual(
        [message.stopReason, message.error?.code, message.content],
        ["error", "context_overflow", []],
      );
    });

    // Q244
    it("is not assumed for an answer with text or hidden thoughts", async () => {
      const some = await ask(wire, wire.answer("Hel", { read: 20, cached: 0, written: 1 }, true));
      assert.deepEqual([some.stopReason, messageText(some)], ["length", "Hel"]);
      const uncounted = await ask(
        wire,
        wire.answer("Hel", { read: 20, cached: 0, written: 0 }, true),
      );
      assert.equal(uncounted.stopReason, "length");
      const hidden = await ask(wire, wire.answer("", { read: 20, cached: 0, written: 64 }, true));
      assert.deepEqual([hidden.stopReason, hidden.content], ["length", []]);
      const untold = await ask(wire, wire.answer("", { read: 20, cached: 0 }, true));
      assert.deepEqual([untold.stopReason, untold.usage.output], ["length", undefined]);
    });
  });
}

describe("an answer to a conversation that was too long", () => {
  // Q244
  it("keeps its calls but never runs them", async () => {
    const call = {
      id: "a",
      index: 0,
      function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
    };
    const usage = { prompt_tokens: 9000, completion_tokens: 9 };
    const events = [
      { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
      { ...finish("tool_calls"), usage },
    ];
    const message = await ask(wires[0] as Wire, events, 8192);
    assert.deepEqual([message.stopReason, message.error?.code], ["error", "context_overflow"]);
    assert.deepEqual(
      message.content.map(({ type }) => type),
      ["toolCall"],
    );
  });
});
