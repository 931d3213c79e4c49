/** Single answers, from streaming and from non-streaming servers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  complete,
  CompletionError,
  getModel,
  isBowlineError,
  messageText,
  type AssistantMessage,
  type AssistantMessageStream,
  type Model,
} from "../../src/index.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { chatText, failing, loopback, type Handler } from "../../../../test/support/loopback.ts";
import { hello } from "../support.ts";

type Json = Record<string, unknown>;

const context = {
  messages: [hello],
  tools: [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }],
};
const args = { path: "/" };

/** A non-streaming answer of each wire: a thought, a word, a call, and its usage. */
const wires: readonly { readonly api: string; readonly path: string; readonly answer: Json }[] = [
  {
    api: "openai-chat",
    path: "/v1/chat/completions",
    answer: {
      id: "r1",
      object: "chat.completion",
      model: "m-2026",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            reasoning_content: "hm",
            content: "Hello",
            tool_calls: [
              {
                id: "c1",
                type: "function",
                function: { name: "read", arguments: JSON.stringify(args) },
              },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    },
  },
  {
    api: "anthropic-messages",
    path: "/v1/messages",
    answer: {
      id: "r1",
      type: "message",
      role: "assistant",
      model: "m-2026",
      content: [
        { type: "thinking", thinking: "hm", signature: "S" },
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "c1", name: "read", input: args },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 7, output_tokens: 3 },
    },
  },
  {
    api: "openai-responses",
    path: "/v1/responses",
    answer: {
      id: "r1",
      object: "response",
      status: "completed",
      model: "m-2026",
      output: [
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "hm" }],
          encrypted_content: "E",
        },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello", annotations: [] }],
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "c1",
          name: "read",
          arguments: JSON.stringify(args),
        },
      ],
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
    },
  },
  {
    api: "google-generate",
    path: "/v1/models/m:generateContent",
    answer: {
      responseId: "r1",
      modelVersion: "m-2026",
      candidates: [
        {
          index: 0,
          finishReason: "STOP",
          content: {
            role: "model",
            parts: [
              { thought: true, text: "hm" },
              { text: "Hello" },
              { functionCall: { id: "c1", name: "read", args }, thoughtSignature: "S" },
            ],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    },
  },
];

const whole =
  (answer: Json, pretty: boolean): Handler =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer, null, pretty ? 2 : 0));
  };

const at = (baseUrl: string, fields: Partial<Model> = {}): Model =>
  getModel("custom", "m", { baseUrl, ...fields });

/** The error with which a call rejects. */
async function failure(answering: Promise<AssistantMessage>): Promise<CompletionError> {
  const error: unknown = await answering.then(
    () => assert.fail("the call resolved"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompletionError && isBowlineError(error));
  return error;
}

describe("a server that cannot stream", () => {
  for (const { api, path, answer } of wires) {
    it(`gets a non-streaming request over ${api}, and its answer is read whole`, async () => {
      for (const pretty of [false, true]) {
        await using server = await loopback(whole(answer, pretty));
        const model = at(server.baseUrl, { api, compat: { noStreaming: true } });
        const message = await complete(model, context, { apiKey: "k", maxRetries: 0 });
        assert.equal(message.error, undefined);
        assert.deepEqual(
          message.content.map((part) => {
            if (part.type === "toolCall") return [part.id, part.name, part.arguments];
            return part.type === "thinking" ? [part.thinking] : part.type === "text" && part.text;
          }),
          [["hm"], "Hello", ["c1", "read", args]],
        );
        const { stopReason, responseId, responseModel, usage } = message;
        assert.deepEqual([stopReason, responseId, responseModel], ["toolUse", "r1", "m-2026"]);
        assert.deepEqual([usage.input, usage.output, usage.totalTokens], [7, 3, 10]);
        const [asked] = server.requests;
        assert.deepEqual([asked?.url, asked?.headers.accept], [path, "application/json"]);
        const sent = JSON.parse(asked?.body ?? "") as Json;
        assert.deepEqual(["stream" in sent, "stream_options" in sent], [false, false]);
      }
    });
  }
});

describe("complete()", () => {
  it("returns the final message of a streamed answer", async () => {
    await using server = await loopback(chatText("Hello"));
    const message = await complete(at(server.baseUrl), context);
    assert.deepEqual([messageText(message), message.stopReason], ["Hello", "stop"]);
    assert.equal((JSON.parse(server.requests[0]?.body ?? "") as Json).stream, true);
  });

  it("rejects with the error of a failed call, which carries the message", async () => {
    const failed = async (answering: Promise<AssistantMessage>): Promise<unknown[]> => {
      const error = await failure(answering);
      const { stopReason, content } = error.answer;
      assert.deepEqual(error.toJSON(), error.answer.error);
      assert.equal(error.message, error.answer.errorMessage);
      return [stopReason, error.code, content];
    };
    await using server = await loopback(failing(401, { error: { message: "no such key" } }));
    const model = at(server.baseUrl);
    assert.deepEqual(await failed(complete(model, context)), [
      "error",
      "authentication_failed",
      [],
    ]);
    assert.deepEqual(await failed(complete(at("", { api: "smoke" }), context)), [
      "error",
      "invalid_argument",
      [],
    ]);
    const signal = AbortSignal.abort();
    assert.deepEqual(await failed(complete(model, context, { signal })), [
      "aborted",
      "aborted",
      [],
    ]);
    const cause = new TypeError("mine");
    const thrown = complete(model, context, {}, () => {
      throw cause;
    });
    assert.deepEqual(await failed(thrown), ["error", "stream_function_failed", []]);
    assert.equal((await failure(thrown)).cause, cause);
  });

  it("resolves with an answer that was cut by the token limit", async () => {
    const script = createScriptedModel([
      { content: [{ type: "text", text: "Hel" }], stopReason: "length" },
    ]);
    const message = await complete(script.model, context, {}, script.streamFn);
    assert.deepEqual([messageText(message), message.stopReason], ["Hel", "length"]);
  });

  it("rejects for a custom stream's failed message without an error", async () => {
    for (const [stopReason, code] of [
      ["error", "stream_function_failed"],
      ["aborted", "aborted"],
    ] as const) {
      const message = { stopReason, content: [] } as unknown as AssistantMessage;
      const error = await failure(
        complete(at(""), context, {}, async function* () {
          yield { type: "error", attempt: 1, reason: stopReason, error: message };
        }),
      );
      assert.deepEqual(
        [error.code, error.message, error.answer],
        [code, "The model call failed.", message],
      );
    }
  });

  it("keeps the partial answer of any stream that breaks off", async () => {
    const start = {
      type: "start",
      attempt: 1,
      api: "a",
      provider: "p",
      model: "m",
      timestamp: 5,
    } as const;
    const events: AssistantMessageEvent[] = [
      start,
      { type: "text_start", attempt: 1, contentIndex: 0 },
      { type: "text_delta", attempt: 1, contentIndex: 0, delta: "Hel" },
    ];
    const { code, answer } = await failure(
      complete(at(""), context, {}, async function* () {
        yield* events;
      }),
    );
    assert.deepEqual([messageText(answer), code], ["Hel", "stream_truncated"]);
    const clock = { now: () => 9, setTimer: () => () => {} };
    const broken = await failure(
      complete(at(""), context, { clock }, () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("lost")) }),
      })),
    );
    assert.deepEqual(
      [broken.message, broken.code, broken.answer.timestamp],
      ["lost", "stream_function_failed", 9],
    );
  });

  it("resolves at the last event, whatever a custom stream does afterwards", async () => {
    const end = {
      stopReason: "stop",
      content: [{ type: "text", text: "Hi" }],
    } as unknown as AssistantMessage;
    const done: AssistantMessageEvent = { type: "done", attempt: 1, reason: "stop", message: end };
    const next = (): Promise<IteratorResult<AssistantMessageEvent>> =>
      Promise.resolve({ done: false, value: done });
    let left = 0;
    const ways = {
      hangs: () => new Promise<never>(() => {}),
      rejects: () => Promise.reject(new Error("no")),
      throws: () => {
        throw new Error("no");
      },
    };
    for (const letGo of Object.values(ways)) {
      const iterator = { next, return: () => (left++, letGo()) };
      const stream = { [Symbol.asyncIterator]: () => iterator };
      const inBatches = {
        batches: () => ({
          [Symbol.asyncIterator]: () => ({ ...iterator, next: async () => ({ value: [done] }) }),
        }),
      };
      for (const one of [stream, { ...stream, ...inBatches }])
        assert.equal(await complete(at(""), context, {}, () => one as AssistantMessageStream), end);
    }
    assert.equal(left, 6);
  });
});
