/**
 * A `fetch` over undici, an optional peer dependency: install it to use this entry. It has no time
 * limits of its own but that of connecting, where Node's gives up after 300 s without a header or
 * without a byte (Q235, Q236); it takes any dispatcher, a proxy for one; and a request costs a
 * third of what it costs with Node's.
 */
import type { Dispatcher, fetch as UndiciFetch } from "undici";
import { createAgent, undiciFetch } from "./load-undici.ts";
import { BowlineError } from "../../errors.ts";
import {
  posting,
  type BodyReader,
  type PostedBody,
  type PostedResponse,
  type PostingFetch,
} from "../request.ts";

export interface UndiciFetchOptions {
  /**
   * Makes the connections: undici's `EnvHttpProxyAgent`, `ProxyAgent`, a pool with limits. Default:
   * an `Agent` of this fetch's own, made with the first request. Bun gives none: it has a stand-in
   * under undici's name.
   */
  readonly dispatcher?: Dispatcher;
  /**
   * undici's `fetch`, for what is not a plain POST of a text. Pass it with `dispatcher` where this
   * package may not resolve undici, such as in a command that is installed globally beside it.
   * Default: loaded with the first such request.
   */
  readonly fetch?: typeof UndiciFetch;
  /**
   * Until a connection stands, in milliseconds; 0 is no limit. For the default dispatcher only.
   * Default 10,000.
   */
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
  const post = async (
    input: RequestInfo | URL,
    init: RequestInit = {},
  ): Promise<Exchange | Response> => {
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
  const fetch: PostingFetch = async (input, init) => {
    const response = await post(input, init);
    return response instanceof Exchange ? response.toResponse() : response;
  };
  return Object.assign(fetch, { [posting]: post });
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
 * One request, its response, and the reader of its body. Nothing is given before it is asked for:
 * so what comes together is handed over as one chunk.
 */
class Exchange implements Dispatcher.DispatchHandler, PostedResponse, BodyReader {
  status = 0;
  body: PostedBody | null = null;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Exchange) => void;
  readonly #reject: (reason: unknown) => void;
  #request: Dispatcher.DispatchController | undefined;
  #fields: Record<string, string | string[] | undefined> = {};
  #statusText = "";
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** Who reads and has nothing yet. */
  #reading:
    | {
        resolve(chunk: Awaited<ReturnType<BodyReader["read"]>>): void;
        reject(reason: unknown): void;
      }
    | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(
    signal: AbortSignal | undefined,
    resolve: (response: Exchange) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this, { once: true });
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get headers(): Map<string, string> {
    return new Map(
      Object.entries(this.#fields).map(([name, value]) => [name, [value].flat().join(", ")]),
    );
  }

  /** The same as a standard response. */
  toResponse(): Response {
    const headers = Object.entries(this.#fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    try {
      return new Response(this.body && streamOf(this.body), {
        status: this.status,
        statusText: this.#statusText,
        headers,
      });
    } catch (cause) {
      this.#stop({});
      throw new TypeError("fetch failed", { cause }); // a status text that no response can have
    }
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
    if (status > 599)
      return this.#stop({ error: new TypeError("fetch failed", { cause: `status ${status}` }) });
    this.#fields = fields;
    this.#statusText = statusText;
    this.body = [204, 205, 304].includes(status) ? null : bodyOf(this, fields["content-encoding"]);
    this.status = status;
    this.#resolve(this);
  }

  onResponseData(request: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#end) return;
    this.#pending.push(chunk);
    this.#pendingLength += chunk.length;
    if (this.#pendingLength > MAX_PENDING) request.pause();
    if (this.#reading && this.#pending.length === 1) queueMicrotask(() => this.#give()); // with all that came with it
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_request: Dispatcher.DispatchController, cause: Error): void {
    this.#finish({
      error: new TypeError(this.status > 0 ? "terminated" : "fetch failed", { cause }),
    });
  }

  read(): ReturnType<BodyReader["read"]> {
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
      this.#give();
    });
  }

  async cancel(): Promise<void> {
    this.#stop({});
  }

  /** To who reads: what has come, then how it ended. */
  #give(): void {
    const reading = this.#reading;
    if (!reading || !(this.#pending.length > 0 || this.#end)) return;
    this.#reading = undefined;
    const chunks = this.#pending;
    if (chunks.length > 0) {
      this.#pending = [];
      this.#pendingLength = 0;
      reading.resolve({
        done: false,
        value: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
      });
      if (this.#request?.paused) this.#request.resume();
    } else if (this.#end?.error === undefined) reading.resolve({ done: true, value: undefined });
    else reading.reject(this.#end.error);
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#signal?.removeEventListener("abort", this);
    if (this.status === 0) this.#reject(end.error);
    this.#give();
  }

  /** Ends the exchange from this side: nobody reads on. */
  #stop(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#pending = [];
    this.#finish(end);
    this.#request?.abort(new Error("aborted"));
  }
}

/** What is read of it: as it comes, or what was compressed. */
function bodyOf(reader: BodyReader, said: unknown): PostedBody {
  const body = { getReader: () => reader };
  const encoding = typeof said === "string" ? said.toLowerCase().replace("x-", "") : "";
  if (encoding !== "gzip" && encoding !== "deflate") return body;
  return streamOf(body).pipeThrough(
    new DecompressionStream(encoding) as ReadableWritablePair<Uint8Array, Uint8Array>,
  );
}

function streamOf(body: PostedBody): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
