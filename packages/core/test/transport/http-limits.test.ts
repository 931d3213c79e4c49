/**
 * Limits on a server's use of memory and time: refusals (Q235, Q242), events and whole answers
 * (Q029), cut answers (Q233).
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { isBowlineError } from "../../src/errors.ts";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { complete } from "../../src/providers/complete.ts";
import { StreamDecoder } from "../../src/providers/decoder.ts";
import { openaiChat, streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { streamProxy } from "../../src/providers/proxy/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { SseReader } from "../../src/transport/sse.ts";
import { loopback } from "../../../../test/support/loopback.ts";
import { asEvents, asJson, data, finish, say, wholeHello } from "./http-case.ts";
import { http, serveBytes } from "./http-server.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";

const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Endless extends AsyncDisposable {
  readonly origin: string;
  /** The bytes that the system accepted from the server. */
  readonly sent: () => number;
  /** Resolves when the client has released the connection. */
  readonly closed: Promise<unknown>;
}

const MOST = 64 * 1024 * 1024;

/** Answers with `head`, and then with `x` while the client reads, up to 64 MiB. */
async function endless(head: string): Promise<Endless> {
  let sent = 0;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("close", close);
    socket.once("data", () => {
      socket.write(head);
      const chunk = Buffer.alloc(16 * 1024, "x");
      const pour = (): void => {
        while (sent < MOST && !socket.destroyed) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", pour);
        }
      };
      pour();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    closed,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function ask(origin: string, options: StreamOptions = {}): Promise<AssistantMessage> {
  const model = getModel("custom", "the-model", { baseUrl: `${origin}/v1` });
  return streamOpenaiChat(model, context, { maxRetries: 0, ...options }).result();
}

describe("an endless body", () => {
  for (const [status, code] of [
    [400, "invalid_request"],
    [503, "server_error"],
  ] as const) {
    // Q242
    it(`of a ${status} is read only as far as the error text needs`, async () => {
      await using server = await endless(
        `HTTP/1.1 ${status} X\r\nconnection: close\r\n\r\nNot so. `,
      );
      const { error } = await ask(server.origin, { timeouts: { totalMs: 10_000 } });
      assert.deepEqual([error?.code, error?.status], [code, status]);
      assert.match(error?.message ?? "", /Not so\. x+/);
      assert.ok((error?.message.length ?? 0) < 1000);
      await server.closed;
      assert.ok(server.sent() < MOST / 2, `${server.sent()} bytes were sent`);
    });
  }

  // Q235
  it("that contains no event is ended by the limit of the whole call, with the system clock", async () => {
    await using server = await endless(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: ",
    );
    const started = performance.now();
    const { error } = await ask(server.origin, { timeouts: { totalMs: 50 } });
    assert.ok(performance.now() - started < 30_000);
    // A slow machine reads less than the longest line in that time, a fast one may read more.
    assert.ok(error?.code === "timeout" || error?.code === "stream_corrupt", error?.message);
    await server.closed;
  });
});

describe("a custom proxy", () => {
  // Q235
  it("is bounded by the limit of the whole call, and receives that limit", async () => {
    await using server = await loopback(() => {});
    const model = getModel("custom", "the-model", { baseUrl: "http://127.0.0.1:1" });
    const proxyUrl = server.baseUrl.replace("/v1", "");
    const options = { authToken: "the-token", proxyUrl, timeouts: { totalMs: 500 } };
    const { error } = await streamProxy(model, context, options).result();
    assert.equal(error?.code, "timeout");
    assert.match(error?.message ?? "", /did not finish within 500 ms/);
    assert.match(server.requests[0]?.body ?? "", /"timeouts":\{"totalMs":500\}/);
  });
});

describe("parts of a body", () => {
  const tooLong = (error: unknown): boolean =>
    isBowlineError(error) && error.code === "stream_corrupt";

  // Q029
  it("are bounded, even if they are not events", () => {
    const lines = new SseReader({ event: () => {} }, { maxEventLength: 100 });
    lines.push(bytes(`{\n${'  "a": 1,\n'.repeat(9)}`));
    assert.throws(() => lines.push(bytes('  "a": 1,\n')), tooLong);
    const line = new SseReader({ event: () => {} }, { maxEventLength: 100 });
    assert.throws(() => line.push(bytes(`{"a":"${"x".repeat(100)}`)), tooLong);
  });

  // Q029
  it("between events are not counted, because they are not stored", () => {
    let events = 0;
    const reader = new SseReader({ event: () => void events++ }, { maxEventLength: 100 });
    reader.push(bytes(`data: a\n\n${"not a field\n".repeat(100)}data: b\n\n`));
    assert.deepEqual([events, reader.stray], [2, ""]);
  });

  // Q029
  it("in one batch are bounded by four times the longest event, so that they cannot fill memory", () => {
    let events = 0;
    const reader = new SseReader({ event: () => void events++ }, { maxEventLength: 100 });
    for (let count = 0; count < 8; count++) reader.push(bytes(`data: ${"x".repeat(50)}\n\n:\n\n`));
    assert.throws(() => reader.push(bytes("data: x\n\n")), tooLong);
    assert.equal(events, 8);
  });

  // Q029
  it("form an answer whose text, thoughts and arguments are bounded together", async () => {
    const thought = { choices: [{ index: 0, delta: { reasoning_content: "h".repeat(40) } }] };
    const call = { index: 0, id: "a", function: { name: "f", arguments: `"${"x".repeat(38)}"` } };
    const called = { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    const events = [thought, say("t".repeat(40)), called, finish("tool_calls"), "[DONE]"];
    await using server = await serveBytes([http(200, asEvents, data(...events))]);
    const model = getModel("custom", "the-model", { baseUrl: `${server.origin}/v1` });
    for (const [maxAnswerLength, code] of [
      [119, "stream_corrupt"],
      [120, undefined],
      [undefined, undefined],
    ] as const) {
      const options = { maxAnswerLength, maxRetries: 0 } as StreamOptions;
      const { error } = await streamOpenaiChat(model, context, options).result();
      assert.equal(error?.code, code, String(maxAnswerLength));
    }
  });

  // Q029
  it("without an end are bounded: an answer has at most 16 Mi characters", () => {
    const decoder = new StreamDecoder(
      openaiChat,
      getModel("custom", "m", { baseUrl: "http://x/v1" }),
      {
        timestamp: 0,
      },
    );
    const chunk = bytes(data(say("x".repeat(1024 * 1024))));
    for (let count = 0; count < 16; count++) decoder.push(chunk);
    const before = decoder.failure;
    decoder.push(chunk);
    assert.equal(before, undefined);
    assert.match(decoder.failure?.message ?? "", /longer than 16777216 characters/);
  });

  // Q029
  it("are bounded by the options of a call, on a wire and behind a proxy", async () => {
    const answer = http(200, asEvents, data(say("x".repeat(1000)), finish(), "[DONE]"));
    await using server = await serveBytes([answer]);
    const model = getModel("custom", "the-model", { baseUrl: `${server.origin}/v1` });
    for (const [maxEventLength, code] of [
      [900, "stream_corrupt"],
      [2000, undefined],
    ] as const)
      assert.equal(
        (await streamOpenaiChat(model, context, { maxEventLength }).result()).error?.code,
        code,
      );
    const proxied = await streamProxy(model, context, {
      maxRetries: 0,
      authToken: "session-of-ann",
      proxyUrl: server.origin,
      maxEventLength: 900,
    }).result();
    assert.match(proxied.error?.message ?? "", /more than 900 characters/);
  });

  // Q018
  it("may be a whole answer of many lines, as long as the longest event", () => {
    const text = "x".repeat(100_000);
    const lines = Array.from({ length: 100 }, () => `"${text}"`).join(",\n");
    const answer = wholeHello.replace("{", `{"padding":[\n${lines}\n],`);
    assert.ok(answer.length > 9 * 1024 * 1024);
    const decoder = new StreamDecoder(
      openaiChat,
      getModel("custom", "m", { baseUrl: "http://h" }),
      { timestamp: 0 },
    );
    decoder.push(bytes(answer));
    decoder.end();
    assert.deepEqual([decoder.failure, messageText(decoder.message)], [undefined, "Hello."]);
  });
});

describe("a time limit", () => {
  // Q235
  it("has its default if it is given as undefined, on a wire and to a proxy", async () => {
    const timeouts = { firstByteMs: undefined, idleMs: undefined, progressMs: undefined } as object;
    const model = getModel("custom", "the-model", { baseUrl: "http://h.invalid" });
    for (const stream of [streamOpenaiChat, streamProxy]) {
      const clock = new ManualClock();
      const silent = {
        fetch: () => new Promise<never>(() => {}),
        authToken: "t",
        proxyUrl: "http://h.invalid",
      };
      const answer = stream(model, context, { ...silent, clock, timeouts, maxRetries: 0 }).result();
      await clock.advance(599_999);
      assert.equal(clock.pending, 1);
      await clock.advance(1);
      assert.equal((await answer).error?.code, "timeout");
    }
  });
});

describe("a non-streaming answer", () => {
  // Q233
  it("is retried if it was cut", async () => {
    const whole = (body: string): ReturnType<typeof http> =>
      http(200, { ...asJson, connection: "close" }, body, "end");
    await using server = await serveBytes([whole(wholeHello.slice(0, 50)), whole(wholeHello)]);
    const baseUrl = `${server.origin}/v1`;
    const model = getModel("custom", "the-model", { baseUrl, compat: { noStreaming: true } });
    const message = await complete(model, context, { random: () => 0 });
    assert.deepEqual(
      [message.error, messageText(message), server.requests.length],
      [undefined, "Hello.", 2],
    );
  });
});
