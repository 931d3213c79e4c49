/** A `fetch` that bounds what a server may send, and notices a stream that ends without an answer. */
import type { FetchLike } from "@modelcontextprotocol/client";

export interface BoundedFetchOptions {
  /** Default: the `fetch` of this runtime. */
  readonly fetch: FetchLike;
  /** Most bytes of a body, or of one event of a stream of events. */
  readonly messageBytes: number;
  /** Is told of the streams of events that answer requests. */
  readonly streams: AnswerStreams;
}

interface AnswerStreams {
  streamOpened(requestId: string | number): void;
  /**
   * The stream has ended or failed. `canResume`: the server gave an event id, so that the client
   * library asks for the rest.
   */
  streamEnded(requestId: string | number, canResume: boolean): void;
  /** The request was given up by who made it. */
  dropped(requestId: string | number): void;
}

export function boundedFetch(options: BoundedFetchOptions): FetchLike {
  return async (url, init) => {
    const response = await options.fetch(url, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const id = isStream ? requestId(init) : undefined;
    const watch = new Watch(options.messageBytes, isStream);
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          watch.push(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    if (id !== undefined) options.streams.streamOpened(id);
    const onEnd = (): void => {
      if (id === undefined) return;
      if (init?.signal?.aborted) options.streams.dropped(id);
      else options.streams.streamEnded(id, watch.hasEventId);
    };
    const bounded = new Response(told(body, onEnd), { status, statusText, headers });
    // A constructed response has no URL, by which the client library resolves relative addresses.
    Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
    return bounded;
  };
}

/** Returns the body, and calls `onEnd` once after its end, failure or cancellation. */
function told(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}

function requestId(init: RequestInit | undefined): string | number | undefined {
  if (init?.method !== "POST" || typeof init.body !== "string") return undefined;
  const { id, method } = JSON.parse(init.body) as { id?: string | number; method?: string };
  return method === undefined ? undefined : id;
}

const LF = 10;
const CR = 13;

/** Counts the bytes of a body, in a stream of events since the last empty line. */
class Watch {
  hasEventId = false;
  readonly #limit: number;
  readonly #isStream: boolean;
  #length = 0;
  /** Bytes of the current line so far, and its beginning. */
  #column = 0;
  #start = "";

  constructor(limit: number, isStream: boolean) {
    this.#limit = limit;
    this.#isStream = isStream;
  }

  push(chunk: Uint8Array): void {
    if (this.#isStream) for (const byte of chunk) this.#take(byte);
    else this.#length += chunk.length;
    if (this.#length > this.#limit)
      throw new Error(`the server's message is longer than ${this.#limit} bytes`);
  }

  #take(byte: number): void {
    this.#length += 1;
    if (byte === LF || byte === CR) {
      if (this.#column === 0) this.#length = 0;
      if (this.#start.startsWith("id:")) this.hasEventId = true;
      this.#column = 0;
      this.#start = "";
      return;
    }
    if (this.#column < 3) this.#start += String.fromCharCode(byte);
    this.#column += 1;
  }
}
