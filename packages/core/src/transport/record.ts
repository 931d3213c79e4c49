/**
 * Records what passes through `fetch`, and plays it back without a network: the same chunks, and
 * the same failures at the same places. Timing is not recorded; playback runs as fast as it is
 * read.
 */
import { BowlineError } from "../errors.ts";
import { chunkedResponse } from "./chunked-response.ts";
import { createMatcher, type Normalize } from "./match.ts";
import {
  assertRecording,
  fromRecordedBytes,
  fromRecordedFailure,
  toRecordedBytes,
  toRecordedFailure,
  type RecordedExchange,
  type RecordedRequest,
  type Recording,
} from "./recording.ts";
import { createRedactor, type Redactor } from "./redact.ts";

/**
 * `record` calls the server, `playback` never does, and `update` only for requests without a
 * recording.
 */
export type RecorderMode = "record" | "playback" | "update";

export interface RecorderOptions {
  readonly mode: RecorderMode;
  /** The recording to play back. `record` and `update` append to it. Default: empty. */
  readonly recording?: Recording | undefined;
  /** The `fetch` that `record` and `update` call. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Secrets to replace wherever they occur. Headers and query parameters that carry keys are always
   * redacted.
   */
  readonly redact?: readonly string[] | undefined;
  /**
   * Makes requests comparable that differ from run to run. Default: requests are compared as they
   * are.
   */
  readonly normalize?: Normalize | undefined;
}

export interface Recorder {
  /**
   * Pass this to a model call. Rejects with `invalid_state` if playback finds no matching exchange.
   */
  readonly fetch: typeof globalThis.fetch;
  /** All exchanges so far, held in memory. Exchanges in progress are marked incomplete. */
  readonly recording: Recording;
}

/**
 * Creates a recorder. Throws `invalid_argument` if the recording is not a valid one of this
 * version.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { mode, recording = { version: 1, exchanges: [] }, redact = [], normalize } = options;
  assertRecording(recording);
  const redactor = createRedactor(redact);
  const matcher = createMatcher(recording.exchanges, normalize);
  const added: Live[] = [];
  return {
    async fetch(input, init) {
      const asked = await readRequest(input, init, redactor);
      const played = mode === "record" ? undefined : matcher.take(asked.request);
      if (played !== undefined) return play(played, asked.signal);
      if (mode === "playback") throw matcher.miss(asked.request);
      const live: Live = { request: asked.request, chunks: [] };
      added.push(live);
      return record(live, asked, options.fetch ?? globalThis.fetch);
    },
    get recording(): Recording {
      return {
        version: 1,
        exchanges: [...recording.exchanges, ...added.map((live) => toExchange(live, redactor))],
      };
    },
  };
}

interface Asked {
  readonly request: RecordedRequest;
  readonly signal: AbortSignal | undefined;
  /** The arguments for `fetch`: unchanged, unless the body can be read only once. */
  readonly input: RequestInfo | URL;
  readonly init: RequestInit | undefined;
}

async function readRequest(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  redactor: Redactor,
): Promise<Asked> {
  // The signal is left out: a request that follows the caller's signal would be kept alive by it.
  const request = new Request(input, { ...init, signal: null });
  const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
  const isPlain = !(input instanceof Request) && typeof (init?.body ?? "") === "string";
  const body =
    request.body === null ? undefined : new Uint8Array(await request.clone().arrayBuffer());
  return {
    request: {
      method: request.method,
      url: redactor.url(request.url),
      headers: redactor.headers(request.headers),
      ...(body !== undefined && { body: toRecordedBytes(redactor.chunks([body])[0] ?? body) }),
    },
    signal,
    ...(isPlain
      ? { input, init }
      : { input: request, init: signal === undefined ? {} : { signal } }),
  };
}

/** An exchange in progress. Its bytes are unredacted; `toExchange` redacts them. */
interface Live {
  readonly request: RecordedRequest;
  readonly chunks: Uint8Array[];
  response?: Response;
  end?: { readonly failure?: unknown };
}

function toExchange(
  { request, response, chunks, end }: Live,
  redactor: Redactor,
): RecordedExchange {
  return {
    request,
    ...(response !== undefined && {
      response: {
        status: response.status,
        headers: redactor.headers(response.headers),
        chunks: redactor.chunks(chunks).map(toRecordedBytes),
      },
    }),
    ...(end === undefined && { incomplete: true }),
    ...(end !== undefined &&
      "failure" in end && { failure: toRecordedFailure(end.failure, redactor.text) }),
  };
}

async function record(
  live: Live,
  { input, init, signal }: Asked,
  fetch: typeof globalThis.fetch,
): Promise<Response> {
  const failed = (failure: unknown): unknown => {
    live.end ??= { failure };
    return failure;
  };
  let response: Response;
  try {
    response = await fetch(input, init);
  } catch (error) {
    throw failed(error);
  }
  live.response = response;
  if (response.body === null) {
    live.end = {};
    return response;
  }
  const reader = response.body.getReader();
  let left = false;
  return chunkedResponse(response, {
    async next() {
      try {
        const { value } = await reader.read();
        // A copy, since the reader may transfer the buffer.
        if (value !== undefined) live.chunks.push(value.slice());
        else if (!left) live.end ??= {};
        return value;
      } catch (error) {
        throw failed(error);
      }
    },
    async leave(reason) {
      left = true;
      if (signal?.aborted === true) failed(signal.reason);
      await reader.cancel(reason);
    },
  });
}

function play(
  { request, response, failure, incomplete }: RecordedExchange,
  signal: AbortSignal | undefined,
): Response {
  signal?.throwIfAborted();
  const { url } = request;
  const isBroken = failure !== undefined || incomplete === true;
  const cut = (): Error =>
    failure === undefined ? cutShort(request) : fromRecordedFailure(failure);
  if (response === undefined) throw cut();
  const { status, headers, chunks } = response;
  let played = 0;
  return chunkedResponse(
    { status, headers: new Headers(headers), url },
    chunks.length === 0 && !isBroken // such as a 204, which must not have a body
      ? undefined
      : {
          async next() {
            signal?.throwIfAborted();
            const chunk = chunks[played++];
            if (chunk === undefined && isBroken) throw cut();
            return chunk === undefined ? undefined : fromRecordedBytes(chunk);
          },
          async leave() {},
        },
  );
}

function cutShort({ method, url }: RecordedRequest): BowlineError {
  const message = `The recording of ${method} ${url} ends here: it was saved, or its reader left, before the response ended.`;
  return new BowlineError("invalid_state", message);
}
