/**
 * A `fetch` over undici, an optional peer dependency: install it to use this entry. It has no time
 * limits of its own but that of connecting, where Node's gives up after 300 s without a header or
 * without a byte; it takes any dispatcher, a proxy for one; and a request costs a
 * third of what it costs with Node's.
 */
// Q235, Q236
import type { Dispatcher, fetch as UndiciFetch } from "undici";
import { createAgent, undiciFetch } from "./load-undici.ts";
import { BowlineError } from "../../errors.ts";

export interface UndiciFetchOptions {
  /**
   * Makes the connections: undici's `EnvHttpProxyAgent`, `ProxyAgent`, a pool with limits. Default:
   * an `Agent` of this fetch's own, made with the first request. Bun gives none: it has a stand-in
   * under undici's name.
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * undici's `fetch`, for what is not a plain POST of a text. Pass it with `dispatcher` where this
   * package may not resolve undici, such as in a command that is installed globally beside it.
   * Default: loaded with the first such request.
   */
  readonly fetch?: typeof UndiciFetch | undefined;
  /**
   * Until a connection stands, in milliseconds; 0 is no limit. For the default dispatcher only.
   * Default 10,000.
   */
  readonly connectTimeoutMs?: number | undefined;
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
 * For the `fetch` option of a stream function or an agent; one for all of them shares its
 * connections. What is no plain POST of a text goes to undici's own `fetch`, over the same
 * dispatcher and with its limits. Answers come undecoded unless they say `gzip` or `deflate`, and
 * none is asked to. Throws `invalid_argument` for a dispatcher that is none; requests reject with it
 * when undici is needed and not installed.
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
      "The dispatcher makes no connections: it has no method `dispatch`. Under Bun, `undici` is Bun's own stand-in, without proxies; " +
        "Bun's `fetch` has an option `proxy`, and obeys HTTP_PROXY and HTTPS_PROXY.",
    );
  }
  return async (input, init = {}) => {
    const url = typeof input === "string" && URL.canParse(input) ? new URL(input) : undefined;
    const connections = dispatcher ?? (await (agent ??= createAgent(connectTimeoutMs)));
    if (url === undefined || !isPlain(url, init)) {
      // Its types are undici's copies of the standard ones.
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
 * One request and its response. Nothing is enqueued before the reader asks for it, so chunks that
 * arrive together are handed over as one.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  #request: Dispatcher.DispatchController | undefined;
  /** From the response's headers to the end of what the reader sees. */
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** Whether the reader waits for a chunk. */
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
    const headers = Object.entries(fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const body = this.#stream();
    const isNull = [204, 205, 304].includes(status);
    try {
      const content = isNull ? null : decoded(body, fields["content-encoding"]);
      this.#resolve(new Response(content, { status, statusText, headers }));
    } catch (cause) {
      // A status, or a status text, that no response can have.
      this.#reject(new TypeError("fetch failed", { cause }));
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

  /** Ends what the reader sees, once it has all that came. */
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

  /** The reader has left. */
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

/** The body as it comes, or decompressed. */
function decoded(body: ReadableStream<Uint8Array>, said: unknown): ReadableStream<Uint8Array> {
  const encoding = typeof said === "string" ? said.toLowerCase().replace("x-", "") : "";
  if (encoding !== "gzip" && encoding !== "deflate") return body;
  return body.pipeThrough(
    new DecompressionStream(encoding) as ReadableWritablePair<Uint8Array, Uint8Array>,
  );
}
