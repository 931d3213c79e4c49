/**
 * A `fetch` over undici, an optional peer dependency: install undici to use this entry. Its only
 * time limit is that for connecting; Node's `fetch` fails after 300 s without headers or data. It
 * accepts any dispatcher, such as a proxy. A request costs a third of one with Node's.
 */
// Q235, Q236
import type { Dispatcher, fetch as UndiciFetch } from "undici";
import { createAgent, undiciFetch } from "./load-undici.ts";
import { BowlineError } from "../../errors.ts";

export interface UndiciFetchOptions {
  /**
   * Makes the connections, such as undici's `EnvHttpProxyAgent`, `ProxyAgent` or a pool with
   * limits. Default: an `Agent` that is created with the first request. Bun's stand-in for undici
   * provides no dispatcher.
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * undici's `fetch`, for requests other than a plain POST with a string body. Pass it with
   * `dispatcher` if this package cannot resolve undici, for example in a globally installed
   * command. Default: loaded with the first such request.
   */
  readonly fetch?: typeof UndiciFetch | undefined;
  /**
   * The time limit for connecting, in milliseconds; 0 means no limit. Applies to the default
   * dispatcher only. Default 10,000.
   */
  readonly connectTimeoutMs?: number | undefined;
}

/** The requests that the wires send. */
interface PlainInit extends RequestInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The most unread data, in bytes. Above it the server has to wait. */
const MAX_PENDING = 1024 * 1024;

/**
 * Creates a `fetch` for the `fetch` option of a stream function or an agent. Share one among all of
 * them, so that they share connections. Requests other than a plain POST with a string body go to
 * undici's own `fetch`, over the same dispatcher and with undici's limits. Responses are requested
 * uncompressed; `gzip` and `deflate` are decoded if a server sends them anyway, other encodings are
 * not. Throws `invalid_argument` if `dispatcher` has no `dispatch` method. Requests reject with
 * `invalid_argument` if undici is needed and not installed.
 */
export function createUndiciFetch({
  connectTimeoutMs = 10_000,
  dispatcher,
  fetch: otherFetch = undiciFetch,
}: UndiciFetchOptions = {}): typeof globalThis.fetch {
  let agent: Promise<Dispatcher> | undefined;
  if (dispatcher !== undefined && typeof dispatcher.dispatch !== "function") {
    throw new BowlineError(
      "invalid_argument",
      "The dispatcher has no `dispatch` method, so it cannot make connections. Under Bun, `undici` is a stand-in without proxies; " +
        "use the `proxy` option of Bun's `fetch`, or set HTTP_PROXY and HTTPS_PROXY.",
    );
  }
  return async (input, init = {}) => {
    const url = typeof input === "string" && URL.canParse(input) ? new URL(input) : undefined;
    const connections = dispatcher ?? (await (agent ??= createAgent(connectTimeoutMs)));
    if (url === undefined || !isPlain(url, init)) {
      // undici's types are copies of the standard ones.
      return (await otherFetch(
        input as string,
        { ...init, dispatcher: connections } as object,
      )) as unknown as Response;
    }
    const { signal } = init;
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(signal ?? undefined, resolve, reject);
      connections.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: "POST",
          headers: {
            accept: "*/*",
            "accept-encoding": "identity",
            "user-agent": "undici",
            ...init.headers,
          },
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
  return (
    isKnown && method === "POST" && isRecord && typeof body === "string" && redirect === "manual"
  );
}

/**
 * One request and its response. Data is enqueued only when the reader asks, so chunks that arrive
 * together are delivered as one.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  #request: Dispatcher.DispatchController | undefined;
  /** Set from the response headers until the reader's stream ends. */
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** Whether the reader is waiting for a chunk. */
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

  /** Handles the `abort` event of the signal. */
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
    if (status < 200 || this.#end) return; // an informational response
    const headers = Object.entries(fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const body = this.#stream();
    const isNull = [204, 205, 304].includes(status);
    try {
      const content = isNull ? null : decoded(body, fields["content-encoding"]);
      this.#resolve(new Response(content, { status, statusText, headers }));
    } catch (cause) {
      // The status or status text is invalid for a `Response`.
      this.#reject(new TypeError("fetch failed", { cause }));
      this.#leave();
    }
  }

  onResponseData(request: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#pendingLength += chunk.length;
    if (this.#pendingLength > MAX_PENDING) request.pause();
    if (!this.#isAsked) return;
    this.#isAsked = false;
    queueMicrotask(() => this.#pull()); // deferred, so that chunks that arrive together are joined
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_request: Dispatcher.DispatchController, cause: Error): void {
    this.#finish({ error: new TypeError(this.#body ? "terminated" : "fetch failed", { cause }) });
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        start: (controller) => void (this.#body = controller),
        pull: () => this.#pull(),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Delivers buffered data to the reader, or remembers that the reader is waiting. */
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

  /** Ends the reader's stream once all buffered data was read. */
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

  /** The reader cancelled the body. */
  #leave(): void {
    this.#body = undefined;
    this.#stop({});
  }

  /** Aborts the request and drops buffered data. */
  #stop(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#pending = [];
    this.#finish(end);
    this.#request?.abort(new Error("aborted"));
  }
}

/** Returns the body, decompressed if necessary. */
function decoded(body: ReadableStream<Uint8Array>, said: unknown): ReadableStream<Uint8Array> {
  const encoding = typeof said === "string" ? said.toLowerCase().replace("x-", "") : "";
  if (encoding !== "gzip" && encoding !== "deflate") return body;
  return body.pipeThrough(
    new DecompressionStream(encoding) as ReadableWritablePair<Uint8Array, Uint8Array>,
  );
}
