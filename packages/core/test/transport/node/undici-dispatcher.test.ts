/** The fetch over undici, over a dispatcher whose one request the test answers by hand. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import type { Dispatcher } from "undici";
import { createUndiciFetch } from "../../../src/transport/node/undici.ts";
import { within } from "../../../../../test/support/within.ts";

interface Exchange {
  /** The response, or its failure. */
  readonly responding: Promise<Response>;
  readonly handler: Required<Dispatcher.DispatchHandler>;
  readonly controller: Dispatcher.DispatchController;
  /** The calls of `pause`, `resume` and `abort` that the connection got. */
  readonly calls: readonly string[];
}

function ask(signal?: AbortSignal): Exchange {
  const calls: string[] = [];
  const connection = {
    paused: false,
    pause() {
      calls.push("pause");
      connection.paused = true;
    },
    resume() {
      calls.push("resume");
      connection.paused = false;
    },
    abort: () => void calls.push("abort"),
  };
  const controller = connection as unknown as Dispatcher.DispatchController;
  const given: Required<Dispatcher.DispatchHandler>[] = [];
  const dispatcher = {
    dispatch(_options: unknown, handler: Required<Dispatcher.DispatchHandler>) {
      handler.onRequestStart(controller, {});
      given.push(handler);
      return true;
    },
  } as unknown as Dispatcher;
  // With a dispatcher at hand, the request is dispatched before the call returns.
  const fetch = createUndiciFetch({ dispatcher });
  const responding = fetch("http://a.invalid/", {
    method: "POST",
    headers: {},
    body: "{}",
    redirect: "manual",
    ...(signal && { signal }),
  });
  responding.catch(() => {});
  const [handler = assert.fail("nothing was dispatched")] = given;
  return { responding, handler, controller, calls };
}

/** A request whose response has begun, and a reader of its body. */
async function reading(signal?: AbortSignal): Promise<
  Exchange & {
    readonly data: (text: string) => void;
    /** Returns the next chunk as text; undefined at the end. */
    readonly next: () => Promise<string | undefined>;
    readonly cancel: () => Promise<void>;
  }
> {
  const exchange = ask(signal);
  const { responding, handler, controller } = exchange;
  handler.onResponseStart(controller, 200, {}, "OK");
  const reader = (await within("there is a response", responding)).body?.getReader();
  assert.ok(reader);
  return {
    ...exchange,
    data: (text) => handler.onResponseData(controller, Buffer.from(text)),
    next: async () => {
      const { value } = await within("there is a chunk, or the end", reader.read());
      return value && Buffer.from(value).toString();
    },
    cancel: () => reader.cancel(),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the fetch over a dispatcher", () => {
  const plain: RequestInit = {
    method: "POST",
    headers: { a: "b" },
    body: "{}",
    redirect: "manual",
  };

  /**
   * Returns what the dispatcher gets, and what undici's own `fetch` gets: the address, the options,
   * and whether it is to use the dispatcher.
   */
  function sent(address: string, init?: RequestInit): { dispatched: object[]; passed: unknown[] } {
    const dispatched: object[] = [];
    const passed: unknown[] = [];
    const dispatcher = {
      dispatch: (options: object) => dispatched.push(options) > 0,
    } as unknown as Dispatcher;
    const fetch = createUndiciFetch({
      dispatcher,
      fetch: async (input: string, { dispatcher: used, ...rest }: { dispatcher: unknown }) => {
        passed.push([input, rest, used === dispatcher]);
        return new Response();
      },
    } as unknown as Parameters<typeof createUndiciFetch>[0]);
    fetch(address, init).catch(() => {});
    return { dispatched, passed };
  }

  it("dispatches a plain POST to either scheme, with its path and query and without limits", () => {
    for (const scheme of ["http", "https"]) {
      const { dispatched, passed } = sent(`${scheme}://a.invalid:81/v1/x?y=z#part`, plain);
      assert.deepEqual(passed, []);
      const headers = { accept: "*/*", "accept-encoding": "identity", "user-agent": "undici" };
      assert.deepEqual(dispatched, [
        {
          origin: `${scheme}://a.invalid:81`,
          path: "/v1/x?y=z",
          method: "POST",
          headers: { ...headers, a: "b" },
          body: "{}",
          headersTimeout: 0,
          bodyTimeout: 0,
        },
      ]);
    }
  });

  it("passes a request on, whole, if any of its parts is not plain", () => {
    const address = "http://a.invalid/";
    const others: Record<string, [address: string, init?: RequestInit]> = {
      "no options": [address],
      "no method": [address, { headers: { a: "b" }, body: "{}", redirect: "manual" }],
      "another method": [address, { ...plain, method: "PUT" }],
      "a Headers object": [address, { ...plain, headers: new Headers({ a: "b" }) }],
      "a list of headers": [address, { ...plain, headers: [["a", "b"]] }],
      "no headers": [address, { method: "POST", body: "{}", redirect: "manual" }],
      "a body of bytes": [address, { ...plain, body: new Uint8Array(1) }],
      "no body": [address, { method: "POST", headers: { a: "b" }, redirect: "manual" }],
      "redirects to follow": [address, { ...plain, redirect: "follow" }],
      "another scheme": ["ftp://a.invalid/", plain],
      "a user name": ["http://user@a.invalid/", plain],
      "a password": ["http://:word@a.invalid/", plain],
      "a relative address": ["/v1", plain],
    };
    for (const [what, [url, init = {}]] of Object.entries(others))
      assert.deepEqual(sent(url, init), { dispatched: [], passed: [[url, init, true]] }, what);
  });

  it("sends nothing for a signal that is aborted already, and rejects with its reason", async () => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    assert.deepEqual(sent("http://a.invalid/", { ...plain, signal }).dispatched, []);
    const dispatcher = { dispatch: () => assert.fail("dispatched") } as unknown as Dispatcher;
    const fetching = createUndiciFetch({ dispatcher })("http://a.invalid/", { ...plain, signal });
    await assert.rejects(within("it is rejected", fetching), reason);
  });

  it("delivers chunks that arrive together as one, to a reader that waits and to one that comes later", async () => {
    const { data, next, handler, controller } = await reading();
    for (const isEarly of [true, false]) {
      const early = isEarly ? next() : undefined;
      await turn();
      data("a");
      data("b");
      assert.equal(await (early ?? next()), "ab");
    }
    const later = next();
    await turn();
    data("c");
    await turn();
    data("d");
    assert.deepEqual([await later, await next()], ["c", "d"]);
    handler.onResponseEnd(controller, {});
    assert.equal(await next(), undefined);
  });

  it("pauses its connection only above 1 MiB of unread data, and resumes it when that is read", async () => {
    const { calls, data, next, handler, controller } = await reading();
    const first = next();
    await turn();
    data("first");
    await first;
    const half = "x".repeat(512 * 1024);
    for (const text of [half, half]) {
      data(text);
      await turn();
    }
    assert.deepEqual(calls, []);
    data("x");
    assert.deepEqual(calls, ["pause"]);
    assert.equal((await next())?.length, 1024 * 1024 + 1);
    assert.deepEqual(calls, ["pause", "resume"]);
    data(half);
    data(half);
    assert.equal((await next())?.length, 1024 * 1024);
    assert.deepEqual(calls, ["pause", "resume"]);
    handler.onResponseEnd(controller, {});
    assert.equal(await next(), undefined);
  });

  it("rejects when the connection fails before the response, and says that it ended after", async () => {
    const fault = new Error("reset");
    const before = ask();
    before.handler.onResponseError(before.controller, fault);
    await assert.rejects(within("it fails", before.responding), {
      name: "TypeError",
      message: "fetch failed",
      cause: fault,
    });
    const { data, next, handler, controller } = await reading();
    data("begun");
    handler.onResponseError(controller, fault);
    assert.equal(await next(), "begun");
    await assert.rejects(next(), { name: "TypeError", message: "terminated", cause: fault });
  });

  it("ends as the dispatcher said first", async () => {
    const { data, next, handler, controller } = await reading();
    data("all");
    handler.onResponseEnd(controller, {});
    handler.onResponseError(controller, new Error("reset"));
    assert.deepEqual([await next(), await next()], ["all", undefined]);
  });

  it("drops unread data at an abort, and ignores what the dispatcher reports later", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const unread = await reading(abort.signal);
    const waiting = await reading(abort.signal);
    unread.data("unread");
    const waited = assert.rejects(waiting.next(), reason);
    await turn();
    abort.abort(reason);
    await assert.rejects(unread.next(), reason);
    for (let count = 0; count < 2; count++) {
      waiting.data("late");
      await turn();
    }
    waiting.handler.onResponseEnd(waiting.controller, {});
    await waited;
    assert.deepEqual([unread.calls, waiting.calls], [["abort"], ["abort"]]);
  });

  it("releases the connection when its reader leaves, unless the response has ended", async () => {
    const running = await reading();
    await running.cancel();
    assert.deepEqual(running.calls, ["abort"]);
    const ended = await reading();
    ended.data("unread");
    ended.handler.onResponseEnd(ended.controller, {});
    await ended.cancel();
    assert.deepEqual(ended.calls, []);
  });

  it("releases the connection of a response that no Response can have", async () => {
    const { responding, handler, controller, calls } = ask();
    handler.onResponseStart(controller, 999, {}, "What");
    await assert.rejects(within("it is refused", responding), { message: "fetch failed" });
    assert.deepEqual(calls, ["abort"]);
  });

  it("listens to its signal until it ends, fails or is left by its reader", async () => {
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const [ended, failed, left] = await Promise.all([1, 2, 3].map(() => reading(signal)));
    assert.ok(ended && failed && left);
    assert.equal(listeners(), 3);
    ended.handler.onResponseEnd(ended.controller, {});
    assert.equal(listeners(), 2);
    failed.handler.onResponseError(failed.controller, new Error("reset"));
    assert.equal(listeners(), 1);
    await left.cancel();
    assert.equal(listeners(), 0);
  });
});
