/**
 * A `fetch` over undici, an optional peer dependency: install it to use this entry. It has no time limits of its own but that of
 * connecting, where Node's gives up after 300 s without a header or without a byte (Q235, Q236); it takes any dispatcher, a proxy
 * for one; and a request costs a third of what it costs with Node's.
 */
import type { Dispatcher } from "undici";
// Not of the whole, which takes three times as long to load and has 3.5 MB more for every garbage collection to look through.
import Agent from "undici/lib/dispatcher/agent.js";
import { BowlineError } from "../../errors.ts";

export interface UndiciFetchOptions {
  /**
   * Makes the connections: undici's `EnvHttpProxyAgent`, `ProxyAgent`, a pool with limits. Default: an `Agent` of this fetch's own.
   * Bun gives none: it has a stand-in under undici's name.
   */
  readonly dispatcher?: Dispatcher;
  /** Until a connection stands, in milliseconds; 0 is no limit. For the default dispatcher only. Default 10,000. */
  readonly connectTimeoutMs?: number;
}

/** What the wires send. */
interface PlainInit extends RequestInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What came and was not asked for yet, in bytes, at which the server has to wait. */
const MAX_PENDING = 1024 * 1024;

/**
 * For the `fetch` option of a stream function or an agent; one for all of them shares its connections. What is no plain POST of a
 * text goes to undici's own `fetch`, over the same dispatcher and with its limits. Answers come undecoded unless they say `gzip` or `deflate`, and
 * none is asked to. Throws `invalid_argument` for a dispatcher that is none.
 */
export function createUndiciFetch({
  connectTimeoutMs = 10_000,
  dispatcher = new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 }),
}: UndiciFetchOptions = {}): typeof globalThis.fetch {
  if (typeof dispatcher.dispatch !== "function") {
    throw new BowlineError(
      "invalid_argument",
      "The dispatcher makes no connections: it has no method `dispatch`. Under Bun, `undici` is Bun's own stand-in, without proxies; " +
        "Bun's `fetch` has an option `proxy`, and obeys HTTP_PROXY and HTTPS_PROXY.",
    );
  }
  return async (input, init = {}) => {
    const url = typeof input === "string" && URL.canParse(input) ? new URL(input) : undefined;
    if (url === undefined || !isPlain(url, init)) {
      const { fetch } = await import("undici");
      // Its types are undici's copies of the standard ones.
      return (await fetch(input as string, { ...init, dispatcher } as object)) as unknown as Response;
    }
    const { signal } = init;
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(signal ?? undefined, resolve, reject);
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: "POST",
          headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "undici", ...init.headers },
          body: init.body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        exchange,
      );
    });
  };
}

function isPlain({ protocol, username, password }: URL, init: RequestInit): init is PlainInit {
  const { method, headers, body, redirect } = init;
  const isRecord = headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype;
  const isKnown = /^https?:$/.test(protocol) && username + password === "";
  return isKnown && method === "POST" && isRecord && typeof body === "string" && redirect === "manual";
}

/** One request and its response. Nothing is given before it is asked for: so what comes together is handed over as one chunk. */
class Exchange implements Dispatcher.DispatchHandler {
  /** As of `LiveDelta`: one that stays, and with it the compiled code. */
  static readonly kept = new Exchange(
    undefined,
    () => {},
    () => {},
  );
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  #request: Dispatcher.DispatchController | undefined;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pending: Buffer[] = [];
  #pendingLength = 0;
  #isAsked = false;
  #end: { readonly error?: unknown } | undefined;

  constructor(
    signal: AbortSignal | undefined,
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this, { once: true });
  }

  /** The abort. */
  handleEvent(): void {
    this.#stop({ error: this.#signal?.reason });
  }

  onRequestStart(request: Dispatcher.DispatchController): void {
    this.#request = request;
    if (this.#end) request.abort(new Error("aborted"));
  }

  onResponseStart(
    _request: Dispatcher.DispatchController,
    status: number,
    fields: Record<string, string | string[] | undefined>,
    statusText = "",
  ): void {
    if (status < 200 || this.#end) return; // a hint before the response
    const headers: [string, string][] = [];
    for (const name of Object.keys(fields)) {
      const value = fields[name] ?? [];
      if (typeof value === "string") headers.push([name, value]);
      else for (const one of value) headers.push([name, one]);
    }
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#body = controller),
        pull: () => this.#pull(),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
    const isNull = [204, 205, 304].includes(status);
    try {
      this.#resolve(
        new Response(isNull ? null : decoded(body, fields["content-encoding"]), { status, statusText, headers }),
      );
    } catch (error) {
      this.#reject(new TypeError("fetch failed", { cause: error })); // a status that no response can have
      this.#leave();
    }
  }

  onResponseData(request: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#end) return;
    this.#pending.push(chunk);
    this.#pendingLength += chunk.length;
    if (this.#pendingLength > MAX_PENDING) request.pause();
    if (!this.#isAsked) return;
    this.#isAsked = false;
    queueMicrotask(() => this.#pull()); // with all that came with it
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_request: Dispatcher.DispatchController, cause: Error): void {
    this.#finish({ error: new TypeError(this.#body ? "terminated" : "fetch failed", { cause }) });
  }

  /** The reader asks, or what it asked for has come. */
  #pull(): void {
    const chunks = this.#pending;
    if (chunks.length === 0) {
      this.#isAsked = true;
      this.#settle();
      return;
    }
    this.#pending = [];
    this.#pendingLength = 0;
    this.#body?.enqueue(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    if (this.#request?.paused) this.#request.resume();
  }

  /** Ends what the reader sees, behind all that came. */
  #settle(): void {
    if (this.#end === undefined || this.#pending.length > 0) return;
    const { error } = this.#end;
    if (error === undefined) this.#body?.close();
    else if (this.#body) this.#body.error(error);
    else this.#reject(error);
    this.#body = undefined;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#signal?.removeEventListener("abort", this);
    this.#settle();
  }

  /** Nobody reads on. */
  #leave(): void {
    this.#body = undefined;
    this.#stop({});
  }

  /** Ends the exchange from this side. */
  #stop(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#pending = [];
    this.#finish(end);
    this.#request?.abort(new Error("aborted"));
  }
}

function decoded(body: ReadableStream<Uint8Array>, said: unknown): ReadableStream<Uint8Array> {
  const encoding = typeof said === "string" ? said.toLowerCase().replace("x-", "") : "";
  if (encoding !== "gzip" && encoding !== "deflate") return body;
  return body.pipeThrough(new DecompressionStream(encoding) as ReadableWritablePair<Uint8Array, Uint8Array>);
}
