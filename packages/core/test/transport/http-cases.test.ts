/**
 * HTTP faults section by section, byte by byte over real sockets: the number of requests, the
 * waits, and the end of each call.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import { streamAnthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { streamGoogleGenerate } from "../../src/providers/google-generate/index.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { streamOpenaiResponses } from "../../src/providers/openai-responses/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { createUndiciFetch } from "../../src/transport/node/undici.ts";
import { bodyCases } from "./http-body-cases.ts";
import { now, type HttpCase, type Wire } from "./http-case.ts";
import { serveBytes, StillClock, type Received } from "./http-server.ts";
import { limitCases } from "./http-limit-cases.ts";
import { statusCases } from "./http-status-cases.ts";

const wires = {
  "openai-chat": streamOpenaiChat,
  "anthropic-messages": streamAnthropicMessages,
  "openai-responses": streamOpenaiResponses,
  "google-generate": streamGoogleGenerate,
} satisfies Record<Wire, StreamFn>;

interface Outcome {
  readonly message: AssistantMessage;
  readonly requests: readonly Received[];
  /** The waits before each retry. */
  readonly waits: readonly number[];
  readonly elapsedMs: number;
  /** Remaining timers and connections. */
  readonly left: readonly number[];
}

/** Each with separate connections. */
const transports = {
  "Node's fetch": () => globalThis.fetch,
  undici: () => createUndiciFetch(),
};

async function run(example: HttpCase, transport: keyof typeof transports): Promise<Outcome> {
  const { answers, wire = "openai-chat", options, path = "/v1", abort } = example;
  const clock = new StillClock(now);
  const controller = new AbortController();
  const stalled = (ms?: number): void => (abort === "stall" ? controller.abort() : clock.pass(ms));
  await using server = await serveBytes(answers, stalled, transports[transport]());
  const model = {
    ...getModel("custom", "the-model", { baseUrl: `${server.origin}${path}` }),
    api: wire,
  };
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
  const { fetch } = server;
  const { signal } = controller;
  const stream = wires[wire](model, context, {
    clock,
    fetch,
    signal,
    apiKey: "secret-key",
    random: () => 0.5,
    ...options,
  });
  const waits: number[] = [];
  for await (const event of stream as AsyncIterable<AssistantMessageEvent>) {
    if (event.type !== "request_retry") continue;
    await drained(clock, 1);
    assert.deepEqual(
      clock.pending,
      [event.delayMs],
      "the wait is the one that was told, and no other timer is left",
    );
    waits.push(event.delayMs);
    if (abort === "retry") controller.abort();
    else clock.pass(event.delayMs);
  }
  const message = await stream.result();
  const elapsedMs = clock.now() - now;
  if (abort === "stall") await closed(server.open);
  await drained(clock, 0);
  return { message, requests: server.requests, waits, elapsedMs, left: clock.pending };
}

/** The client reads the rest of a response for a moment, so that its connection can be reused. */
async function drained(clock: StillClock, left: number): Promise<void> {
  for (let tries = 0; clock.pending.length > left && tries < 400; tries++)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

async function closed(open: () => number): Promise<void> {
  for (let tries = 0; open() > 0 && tries < 400; tries++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(open(), 0, "the connection is let go");
}

const textOf = ({ content }: AssistantMessage): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

for (const transport of ["Node's fetch", "undici"] as const)
  describe(`a call over HTTP by ${transport}`, () => {
    for (const example of [...statusCases, ...bodyCases, ...limitCases]) {
      it(example.name, async () => {
        const { message, requests, waits, elapsedMs, left } = await run(example, transport);
        const { error, attempts, fresh } = example;
        assert.deepEqual(
          [message.error?.message, requests.length, waits, textOf(message)],
          [message.error?.message, attempts, example.waits ?? [], example.text],
        );
        if (example.elapsedMs !== undefined) assert.equal(elapsedMs, example.elapsedMs);
        const { message: said, ...info } = message.error ?? { message: "" };
        const { message: mustSay = /(?:)/, ...expected } = error ?? {};
        assert.deepEqual(info, expected);
        assert.match(said, mustSay);
        assert.equal(
          message.stopReason,
          error === undefined ? "stop" : error.code === "aborted" ? "aborted" : "error",
        );
        assert.deepEqual(left, []);
        const [first] = requests;
        for (const [index, { method, body, headers, connection }] of requests.entries()) {
          assert.deepEqual([method, body], ["POST", first?.body]);
          assert.equal(headers["idempotency-key"], undefined);
          if (fresh !== true || index === 0) continue;
          assert.equal(connection, index + 1);
          assert.equal(headers.connection, "close");
        }
      });
    }
  });
