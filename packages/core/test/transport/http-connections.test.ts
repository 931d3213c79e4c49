/**
 * HTTP behaviour outside the table: pooled connections, other hosts, and fetch functions that have
 * limits or ignore their signal.
 */
import assert from "node:assert/strict";
import { EventEmitter, getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { data, finish, hello, now, say } from "./http-case.ts";
import { begun, http, nothing, serveBytes, StillClock } from "./http-server.ts";

function ask(origin: string, options: StreamOptions = {}): Promise<AssistantMessage> {
  const model = getModel("custom", "the-model", { baseUrl: `${origin}/v1` });
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
  return streamOpenaiChat(model, context, {
    apiKey: "secret-key",
    random: () => 0,
    ...options,
  }).result();
}

describe("connections", () => {
  // Q230
  it("that died in the pool cost one try, regardless of their number", async () => {
    await using server = await serveBytes((ofConnection) =>
      ofConnection === 1 ? hello : nothing("reset"),
    );
    await Promise.all([ask(server.origin), ask(server.origin), ask(server.origin)]);
    const pooled = server.requests.map(({ connection }) => connection);
    assert.deepEqual(new Set(pooled), new Set([1, 2, 3]));
    const message = await ask(server.origin, { maxRetries: 1 });
    assert.equal(message.stopReason, "stop");
    const [first, second] = server.requests.slice(3);
    assert.ok(pooled.includes(first?.connection as number), "the first try took one of the pool");
    assert.notEqual(first?.headers.connection, "close");
    assert.deepEqual([second?.connection, second?.headers.connection], [4, "close"]);
  });

  it("are reused for the next call: the rest of a response is read, even if it arrives late", async () => {
    const body =
      'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const ends = new EventEmitter();
    let connections = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(body);
      setTimeout(() => response.end(() => ends.emit("end")), 5);
    });
    server.on("connection", () => connections++);
    await once(server.listen(0, "127.0.0.1"), "listening");
    for (let call = 0; call < 3; call++) {
      const ended = once(ends, "end");
      assert.equal(
        (await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).stopReason,
        "stop",
      );
      await ended;
      // Gives the end time to arrive: each turn of the event loop polls every socket.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    server.close();
    server.closeAllConnections();
    assert.equal(connections, 1);
  });

  it("are closed if the server holds them open after an answer, which is complete before that", async () => {
    const clock = new StillClock(now);
    let isClosed = false;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) =>
        stream.enqueue(new TextEncoder().encode(data(say("Hi."), finish(), "[DONE]"))),
      cancel: () => void (isClosed = true),
    });
    const answers: AssistantMessage[] = [];
    const answering = ask("http://127.0.0.1:1", { clock, fetch: async () => new Response(body) });
    void answering.then((message) => answers.push(message));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      answers.map(({ stopReason }) => stopReason),
      ["stop"],
    );
    assert.deepEqual(clock.pending, [500]);
    clock.pass(499);
    assert.equal(isClosed, false);
    clock.pass(1);
    assert.equal(isClosed, true);
  });

  // Q229
  it("follow a redirect within the origin with path, body and key, and send nothing to another origin", async () => {
    await using other = await serveBytes([hello]);
    for (const [location, followed] of [
      ["/v2/chat?x=1", true],
      ["chat/again", true],
      [`${other.origin}/v2/chat?x=1`, false],
      [`//${new URL(other.origin).host}/v2`, false],
    ] as const) {
      await using server = await serveBytes([http(308, { location }), hello]);
      const message = await ask(server.origin);
      assert.equal(message.stopReason, followed ? "stop" : "error");
      const [first, second] = server.requests;
      if (!followed) continue;
      const expected = new URL(location, `${server.origin}/v1/chat/completions`);
      assert.equal(second?.target, expected.pathname + expected.search);
      assert.deepEqual([second?.method, second?.body], ["POST", first?.body]);
      assert.equal(second?.headers.authorization, "Bearer secret-key");
    }
    assert.deepEqual(other.requests, []);
  });

  // Q229
  it("resolve a redirect target against the redirecting address", async () => {
    await using server = await serveBytes([
      http(307, { location: "/v2/old" }),
      http(307, { location: "new" }),
      hello,
    ]);
    assert.equal((await ask(server.origin)).stopReason, "stop");
    assert.equal(server.requests.at(-1)?.target, "/v2/new");
  });

  // Q229
  it("follow three redirects at most, and release the body of each that is followed", async () => {
    const cancelled: string[] = [];
    let calls = 0;
    const { error } = await ask("http://127.0.0.1:1", {
      maxRetries: 0,
      fetch: async (input) => {
        assert.ok(++calls < 10, "the redirects have no end");
        const body = new ReadableStream<Uint8Array>(
          {
            pull: (stream) => stream.close(),
            cancel: () => void cancelled.push(input as string),
          },
          { highWaterMark: 0 },
        );
        return new Response(body, { status: 307, headers: { location: `/v${calls}` } });
      },
    });
    assert.deepEqual([error?.code, calls], ["unexpected_response", 4]);
    assert.deepEqual(cancelled, [
      "http://127.0.0.1:1/v1/chat/completions",
      "http://127.0.0.1:1/v1",
      "http://127.0.0.1:1/v2",
    ]);
  });

  // Q229
  it("fail on a redirect that a browser hides", async () => {
    const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    const { error } = await ask("http://127.0.0.1:1", { fetch: async () => hidden });
    assert.deepEqual([error?.code, error?.retryable], ["unexpected_response", false]);
    assert.match(error?.message ?? "", /redirects to another address/);
  });
});

describe("a custom fetch", () => {
  // Q236
  it("may have its own limits, which are reported as timeouts with their name", async () => {
    await using server = await serveBytes([nothing("hold")]);
    await fetch(server.origin, { signal: AbortSignal.timeout(1) }).catch(() => {}); // Node loads its dispatcher with the first call
    const global = (globalThis as Record<symbol, unknown>)[Symbol.for("undici.globalDispatcher.1")];
    const { constructor: Dispatcher } = global as {
      constructor: new (options: object) => { destroy(): Promise<void> };
    };
    const dispatcher = new Dispatcher({ headersTimeout: 50 });
    const { error } = await ask(server.origin, {
      fetch: (input, init) => fetch(input, { ...init, dispatcher } as RequestInit),
      maxRetries: 0,
    });
    await dispatcher.destroy();
    assert.deepEqual([error?.code, error?.retryable], ["timeout", true]);
    assert.match(error?.message ?? "", /UND_ERR_HEADERS_TIMEOUT/);
  });

  // Q236
  it("may abort by its own signal, before the headers or in the body, which is a timeout", async () => {
    for (const answer of [nothing("hold"), begun("chunked", ": hi\n\n", "hold")]) {
      const own = new AbortController();
      await using server = await serveBytes([answer], () =>
        own.abort(new DOMException("Too slow.", "TimeoutError")),
      );
      const { error } = await ask(server.origin, {
        fetch: (input, { signal, ...init } = {}) =>
          server.fetch(input, {
            ...init,
            signal: AbortSignal.any([signal as AbortSignal, own.signal]),
          }),
        maxRetries: 0,
      });
      assert.deepEqual([error?.code, error?.retryable], ["timeout", true]);
      assert.match(error?.message ?? "", /: Too slow\.$/);
    }
  });

  // Q237
  it("is not called after an abort", async () => {
    await using server = await serveBytes([hello]);
    const message = await ask(server.origin, { signal: AbortSignal.abort() });
    assert.equal(message.stopReason, "aborted");
    assert.deepEqual(server.requests, []);
  });

  // Q237
  it("that ignores its signal does not delay an abort: no hook, no further request and no timer follow", async () => {
    const controller = new AbortController();
    const clock = new StillClock(now);
    const asked: string[] = [];
    let answer: (response: Response) => void = () => {};
    const message = ask("http://127.0.0.1:1", {
      clock,
      signal: controller.signal,
      onResponse: () => void asked.push("onResponse"),
      fetch: (input) => {
        asked.push(input as string);
        return new Promise((resolve) => (answer = resolve));
      },
    });
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    assert.equal((await message).stopReason, "aborted");
    answer(new Response(null, { status: 307, headers: { location: "/v2" } }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(asked, ["http://127.0.0.1:1/v1/chat/completions"]);
    assert.deepEqual(clock.pending, []);
  });

  // Q237
  it("starts nothing after an abort that comes during a slow hook", async () => {
    for (const late of [
      new Response(null, { status: 307, headers: { location: "/v2" } }),
      new Response("data: x\n\n"),
    ]) {
      const controller = new AbortController();
      const clock = new StillClock(now);
      let calls = 0;
      let goOn: () => void = () => {};
      const busy = new Promise<void>((resolve) => (goOn = resolve));
      const message = ask("http://127.0.0.1:1", {
        clock,
        signal: controller.signal,
        onResponse: () => (controller.abort(), busy),
        fetch: async () => (calls++, late.clone()),
      });
      assert.equal((await message).stopReason, "aborted");
      goOn();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(calls, 1);
      assert.deepEqual(clock.pending, []);
    }
  });

  it("that answers late, or returns an endless body, has its connection released", async () => {
    for (const hold of ["fetch", "onResponse"] as const) {
      const controller = new AbortController();
      let goOn: () => void = () => {};
      const busy = new Promise<void>((resolve) => (goOn = resolve));
      let begin: () => void = () => {};
      const isBegun = new Promise<void>((resolve) => (begin = resolve));
      let isLeft = false;
      const body = new ReadableStream<Uint8Array>({ cancel: () => void (isLeft = true) });
      const held = (name: string): Promise<void> | undefined => {
        if (name !== hold) return undefined;
        begin();
        return busy;
      };
      const message = ask("http://127.0.0.1:1", {
        signal: controller.signal,
        onResponse: () => held("onResponse"),
        fetch: async () => {
          await held("fetch");
          return new Response(body);
        },
      });
      await isBegun;
      controller.abort();
      assert.equal((await message).stopReason, "aborted");
      goOn();
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(isLeft, hold);
    }
  });

  it("has its connection released while a body that ignores the signal sends nothing", async () => {
    const controller = new AbortController();
    let isLeft = false;
    let begin: () => void = () => {};
    const isBegun = new Promise<void>((resolve) => (begin = resolve));
    const body = new ReadableStream<Uint8Array>(
      { pull: () => begin(), cancel: () => void (isLeft = true) },
      { highWaterMark: 0 },
    );
    const message = ask("http://127.0.0.1:1", {
      signal: controller.signal,
      fetch: async () => new Response(body),
    });
    await isBegun;
    controller.abort();
    assert.equal((await message).stopReason, "aborted");
    assert.ok(isLeft);
  });

  it("sees no listener on its signal when it returns or its connection breaks, so that nothing leaks", async () => {
    const counts: number[] = [];
    const message = await ask("http://127.0.0.1:1", {
      maxRetries: 0,
      fetch: async (_, { signal } = {}) => {
        const count = (): void =>
          void counts.push(getEventListeners(signal as AbortSignal, "abort").length);
        count();
        return new Response(
          new ReadableStream({
            pull: (body) => (count(), body.error(new TypeError("terminated"))),
          }),
        );
      },
    });
    assert.equal(message.error?.code, "connection_failed");
    assert.deepEqual(counts, [0, 0]);
  });
});
