/** A `fetch` that records the server's bytes while the caller reads them. */

/** One request and the bytes of its response. */
export interface Exchange {
  readonly status: number;
  readonly contentType: string;
  /** Returns the body as far as it was read; a reader may stop at the end of the answer. */
  body(): string;
  /** Arrival time of each chunk, in milliseconds since the request. */
  readonly arrivals: readonly number[];
}

export interface Recorder {
  readonly fetch: typeof globalThis.fetch;
  readonly requests: number;
  /** The last exchange, set when its headers arrive. */
  readonly last: Exchange | undefined;
  forget(): void;
}

export function createRecorder(fetch: typeof globalThis.fetch, now: () => number): Recorder {
  let requests = 0;
  let last: Exchange | undefined;
  return {
    fetch: recordingFetch,
    get requests() {
      return requests;
    },
    get last() {
      return last;
    },
    forget: () => void (last = undefined),
  };

  async function recordingFetch(...args: Parameters<typeof globalThis.fetch>): Promise<Response> {
    requests++;
    const started = now();
    const response = await fetch(...args);
    const pieces: Uint8Array[] = [];
    const arrivals: number[] = [];
    last = {
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
      body: () => new TextDecoder().decode(join(pieces)),
      arrivals,
    };
    if (response.body === null) return response;
    const recorded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          pieces.push(piece);
          arrivals.push(now() - started);
          controller.enqueue(piece);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(recorded, { status, statusText, headers });
  }
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
