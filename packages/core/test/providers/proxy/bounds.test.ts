import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { streamProxy } from "../../../src/providers/proxy/index.ts";
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { StreamFn } from "../../../src/llm/model.ts";
import { ManualClock, settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";
import { asked, hello, serve } from "./rig.ts";

describe("the time limits of a call through a proxy", () => {
  /** The duration of a call whose proxy answers at once and then sends only keep-alives. */
  async function lasts(timeouts: object): Promise<number | undefined> {
    const clock = new ManualClock();
    const begun = clock.now();
    let ended: number | undefined;
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const ping = (): void => {
            if (init?.signal?.aborted === true) return;
            controller.enqueue(new TextEncoder().encode(": ping\n\n"));
            clock.setTimer(10, ping);
          };
          ping();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const abort = new AbortController();
    const stream = streamProxy(asked, hello, {
      authToken: "token",
      proxyUrl: "http://proxy.invalid",
      maxRetries: 0,
      clock,
      fetch,
      timeouts,
      signal: abort.signal,
    });
    void stream.result().then(() => (ended ??= clock.now() - begun));
    for (let step = 0; step < 50; step++) await clock.advance(10);
    const lasted = ended;
    abort.abort();
    await stream.result();
    return lasted;
  }

  it("give its model firstByteMs and progressMs together", async () => {
    const lasted = await lasts({ firstByteMs: 100, progressMs: 200, idleMs: 0 });
    assert.ok(lasted !== undefined && lasted >= 300 && lasted < 320, String(lasted));
  });

  it("are disabled if one of the two is disabled", async () => {
    assert.equal(await lasts({ firstByteMs: 0, progressMs: 200, idleMs: 0 }), undefined);
    assert.equal(await lasts({ firstByteMs: 100, progressMs: 0, idleMs: 0 }), undefined);
  });
});

describe("the body of a request to the handler", () => {
  it("may be exactly as long as the limit, declared or streamed", async () => {
    const body = JSON.stringify({ model: asked, context: hello, options: {} });
    const status = async (maxBodyBytes: number, isStreamed: boolean): Promise<number> => {
      const { handler } = serve(["Hello."], { maxBodyBytes });
      const sent = isStreamed ? new Blob([body]).stream() : body;
      const request = new Request("http://proxy.invalid/api/stream", {
        method: "POST",
        headers: {
          authorization: "Bearer token",
          "content-type": "application/json",
          ...(!isStreamed && { "content-length": String(body.length) }),
        },
        body: sent,
        duplex: "half",
      } as RequestInit);
      const response = await handler(request);
      await response.body?.cancel();
      return response.status;
    };
    for (const isStreamed of [false, true]) {
      assert.equal(await status(body.length, isStreamed), 200);
      assert.equal(await status(body.length - 1, isStreamed), 413);
    }
  });
});

describe("a response of the handler", () => {
  const request = (): Request =>
    new Request("http://proxy.invalid/api/stream", {
      method: "POST",
      headers: { authorization: "Bearer token", "content-type": "application/json" },
      body: JSON.stringify({ model: asked, context: hello, options: {} }),
    });

  it("ends after its last event", async () => {
    const response = await serve(["Hello."]).handler(request());
    const text = await within("the response ends", response.text());
    assert.match(text, /Hello/);
  });

  it("that is no longer read aborts the call, even if its stream only observes the signal", async () => {
    let heard: AbortSignal | undefined;
    const streamFn: StreamFn = (_model, _context, { signal }) => {
      heard = signal;
      const silent = async function* (): AsyncGenerator<AssistantMessageEvent> {
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
        yield* [];
      };
      const result = (): Promise<never> => new Promise(() => {});
      return Object.assign(silent(), { result });
    };
    const response = await serve([], { streamFn }).handler(request());
    const reader = response.body?.getReader();
    await reader?.read(); // the first comment
    void reader?.read();
    await settle();
    await reader?.cancel();
    assert.equal(heard?.aborted, true);
  });
});
