/** One POST and its streamed body. Everything that can go wrong is thrown as a typed error; every wait can be aborted. */
import type { Clock } from "../clock.ts";
import { BowlineError, errorText, isBowlineError } from "../errors.ts";
import { errorOfResponse } from "./http-error.ts";

export interface PostRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** Sent as JSON. */
  readonly body: Record<string, unknown>;
}

/** What a chunk brought: content, only signs of life, or the end of the answer (the rest of the body is not wanted). */
export type ChunkVerdict = "progress" | "alive" | "complete";

export interface PostOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Until the response's headers; 0 is no limit. */
  readonly firstByteMs: number;
  /** Between two chunks; 0 is no limit. */
  readonly idleMs: number;
  /** Between two chunks with content; 0 is no limit. */
  readonly progressMs: number;
  readonly onResponse: (response: { status: number; headers: Record<string, string> }) => unknown;
  readonly onChunk: (chunk: Uint8Array) => ChunkVerdict;
}

const MAX_ERROR_BODY = 64 * 1024;

/** Posts, then hands over the body chunk by chunk. Resolves when the body ended or `onChunk` said that the answer is complete. */
export async function postForStream(request: PostRequest, options: PostOptions): Promise<void> {
  const watch = createWatch(request.url, options.clock, options.signal);
  try {
    const headers = watch.limit(options.firstByteMs, "did not answer within");
    const response = await watch.race(send(request, options.fetch, watch.signal));
    await options.onResponse({ status: response.status, headers: Object.fromEntries(response.headers) });
    if (!response.ok) throw await watch.race(refusal(response, request.url, options.clock.now()));
    headers.end();
    await readBody(response, options, watch);
  } catch (error) {
    throw watch.reason ?? (isBowlineError(error) ? error : connectionError(error, request.url));
  } finally {
    watch.end();
  }
}

// `fetch` is called without a receiver: browsers refuse it as a method of another object.
function send(request: PostRequest, fetch: typeof globalThis.fetch, signal: AbortSignal): Promise<Response> {
  // Set one by one: a caller's own header replaces ours, whatever its case, where a list would send both.
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
  return fetch(request.url, {
    method: "POST",
    headers,
    body: JSON.stringify(request.body),
    redirect: "manual", // a followed 302 turns the POST into a GET whose page would pass for an answer (Q229)
    signal,
  });
}

async function readBody(response: Response, options: PostOptions, watch: Watch): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  // A custom fetch may ignore the signal: cancelling the reader settles a pending read in any case.
  watch.onStop = () => void reader.cancel().catch(() => {}); // the body is given up; how it ends is of no interest
  const idle = watch.limit(options.idleMs, "sent nothing for");
  const progress = watch.limit(options.progressMs, "sent no content for");
  for (;;) {
    const { done, value } = await reader.read();
    if (watch.reason !== undefined) throw watch.reason;
    if (done) return;
    idle.touch();
    const verdict = options.onChunk(value);
    if (verdict === "complete") return;
    if (verdict === "progress") progress.touch();
  }
}

async function refusal(response: Response, url: string, now: number): Promise<BowlineError> {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    const target = response.headers.get("location") ?? "another address";
    return new BowlineError("unexpected_response", `The server at ${url} redirects to ${target}: use that base URL.`, {
      status: response.status,
    });
  }
  const body = (await response.text()).slice(0, MAX_ERROR_BODY);
  return errorOfResponse({ status: response.status, headers: response.headers, body, url, now });
}

/** Node hides the reason in `cause`; without it "fetch failed" says nothing. */
function connectionError(error: unknown, url: string): BowlineError {
  const cause = error instanceof Error ? (error.cause as { code?: string; message?: string } | undefined) : undefined;
  const why = cause?.code ?? cause?.message ?? errorText(error);
  return new BowlineError("connection_failed", `Could not reach ${url}: ${why}`, { retryable: true, cause: error });
}

/** The caller's signal and the time limits of one request, as one signal with one typed reason. */
interface Watch {
  readonly signal: AbortSignal;
  /** Why it fired. */
  reason: BowlineError | undefined;
  /** Called when it fires, and when the request is over. */
  onStop: (() => void) | undefined;
  /**
   * Limits silence: fires `ms` after the last `touch`; 0 never. The timer re-arms itself lazily, so `touch` is cheap.
   * `fault` is what the server then did, such as "sent nothing for".
   */
  limit(ms: number, fault: string): { touch(): void; end(): void };
  /** Settles with the promise, or with the reason when that comes first: a custom fetch may ignore its signal. */
  race<T>(promise: Promise<T>): Promise<T>;
  end(): void;
}

function createWatch(url: string, clock: Clock, caller: AbortSignal): Watch {
  const controller = new AbortController();
  const { signal } = controller;
  const releases = [() => caller.removeEventListener("abort", aborted)];
  let reject: (reason: BowlineError) => void;
  const stopping = new Promise<never>((_, fail) => (reject = fail));
  stopping.catch(() => {}); // it may fire when nothing is waited for
  const watch: Watch = {
    signal,
    reason: undefined,
    onStop: undefined,
    limit(ms, fault) {
      let last = clock.now();
      const check = (): void => {
        const rest = last + ms - clock.now();
        if (rest > 0) cancel = clock.setTimer(rest, check);
        else stop(new BowlineError("timeout", `The server at ${url} ${fault} ${ms} ms.`, { retryable: true }));
      };
      let cancel = ms > 0 ? clock.setTimer(ms, check) : () => {};
      const end = (): void => cancel();
      releases.push(end);
      return { touch: () => (last = clock.now()), end };
    },
    race: (promise) => Promise.race([promise, stopping]),
    end() {
      for (const release of releases) release();
      watch.onStop?.();
    },
  };
  caller.addEventListener("abort", aborted);
  if (caller.aborted) aborted();
  return watch;

  function aborted(): void {
    stop(new BowlineError("aborted", "The request was aborted."));
  }

  function stop(reason: BowlineError): void {
    if (watch.reason !== undefined) return;
    watch.reason = reason;
    reject(reason);
    controller.abort(reason);
    watch.onStop?.();
  }
}
