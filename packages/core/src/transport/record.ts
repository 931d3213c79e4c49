/**
 * Records what passes through `fetch`, and plays it back without a network: the same chunks, the
 * same failures at the same places. No time is kept: a recording is played as fast as it is read.
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

/** `record` asks the server, `playback` never does, `update` only for what is not recorded yet. */
export type RecorderMode = "record" | "playback" | "update";

export interface RecorderOptions {
  readonly mode: RecorderMode;
  /** What is played back; `record` and `update` add to it. Default: nothing. */
  readonly recording?: Recording | undefined;
  /** Asked by `record` and `update`. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Secrets that are replaced wherever they stand. Headers and query parameters that carry keys are
   * redacted in any case.
   */
  readonly redact?: readonly string[] | undefined;
  /**
   * Makes requests comparable that differ from run to run. Default: they are compared as they are.
   */
  readonly normalize?: Normalize | undefined;
}

export interface Recorder {
  /** Give this to a model call. Rejects with `invalid_state` for what playback does not find. */
  readonly fetch: typeof globalThis.fetch;
  /** All exchanges up to now, which are held in memory; those that go on are marked incomplete. */
  readonly recording: Recording;
}

/** Throws `invalid_argument` for what is no recording of this version. */
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
  /** What is handed on to `fetch`: as it came, unless its body could be read only once. */
  readonly input: RequestInfo | URL;
  readonly init: RequestInit | undefined;
}

async function readRequest(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  redactor: Redactor,
): Promise<Asked> {
  // Without the signal: it is the caller's, and a request that follows it would not let go of it.
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

/**
 * One exchange as it goes on: its bytes as they came, secrets and all, which no recording shows.
 */
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
        if (value !== undefined) live.chunks.push(value.slice()); // whoever reads it may take its buffer away
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
    chunks.length === 0 && !isBroken // such as 204, which may have none
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
  const message = `The recording of ${method} ${url} ends here: it was taken, or its reader left, before the end.`;
  return new BowlineError("invalid_state", message);
}
