/**
 * One POST and its streamed body. Everything that can go wrong is thrown as a typed error; every
 * wait can be aborted.
 */
import { onAbort, type Clock } from "../clock.ts";
import { BowlineError, errorText, isBowlineError } from "../errors.ts";
import { asRecord } from "../json-value.ts";
import { errorOfResponse } from "./http-error.ts";

export interface PostRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** JSON. */
  readonly body: string;
}

/**
 * What a chunk brought: content, only signs of life, or the end of the answer (the rest of the body
 * is not wanted).
 */
export type ChunkVerdict = "progress" | "alive" | "complete";

export interface PostOptions {
  /**
   * Connecting is its own affair: it says nothing of it that could be timed apart (Q235). Node's
   * gives up connecting after 10 s and waiting for headers after 300 s, which is a `timeout`, too;
   * node/undici.ts waits longer (Q236).
   */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Asks for a connection that no earlier request has used, for after one broke (Q230). Node's
   * fetch opens a new one by then in any case, Bun's because of this; Deno's may still take others
   * of its pool, and browsers do as they see fit.
   */
  readonly fresh: boolean;
  /** Named in errors. */
  readonly model: string;
  /** Until the response's headers, redirects and connecting included; 0 is no limit. */
  readonly firstByteMs: number;
  /** Between two chunks; 0 is no limit. */
  readonly idleMs: number;
  /** Between two chunks with content; 0 is no limit. What refuses has none. */
  readonly progressMs: number;
  /** From `begunAt` to the end of the answer; 0 is no limit. */
  readonly totalMs: number;
  /** When the call began, of which this may be a further try. */
  readonly begunAt: number;
  readonly onResponse?:
    | ((response: { status: number; headers: Record<string, string> }) => unknown)
    | undefined;
  readonly onChunk: (chunk: Uint8Array) => ChunkVerdict;
}

/** How long something may take, and what is said of a server that takes longer. */
interface Limit {
  readonly ms: number;
  readonly fault: string;
  since: number;
}

const MAX_REDIRECTS = 3;
const DRAIN_MS = 500;
/** How much of a refusal is read: more than any reason takes. */
const MAX_REFUSAL_LENGTH = 64 * 1024;

/**
 * Posts, then hands over the body chunk by chunk. Resolves when the body ended or `onChunk` said
 * that the answer is complete.
 */
export async function postForStream(request: PostRequest, options: PostOptions): Promise<void> {
  const { url } = request;
  const { clock, fetch, fresh } = options; // called without a receiver: browsers refuse `fetch` as a method of another object
  const controller = new AbortController();
  const { signal } = controller; // its reason is always an error of ours
  // Nothing of ours listens to `signal`: Node's fetch keeps it for as long as anything that is
  // reached from it is kept.
  let stop!: (reason: BowlineError) => void;
  const stopped = new Promise<never>((_, reject) => {
    stop = (reason) => {
      reject(reason); // before whatever a fetch makes of its signal
      controller.abort(reason);
      leave();
    };
  });
  const limits = new Set<Limit>();
  let timerAt = Infinity;
  let stopTimer = (): void => {};
  let failing = "Could not reach";
  let refusal: Response | undefined;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let isComplete = false;
  let words = "";
  let failure: BowlineError | undefined;
  const release = onAbort(options.signal, () =>
    stop(new BowlineError("aborted", "The request was aborted.")),
  );
  try {
    // A custom fetch may ignore its signal.
    await Promise.race([exchange().finally(leave), stopped]);
  } catch (error) {
    failure = isBowlineError(error) ? error : connectionError(error, `${failing} ${url}`);
  } finally {
    stopTimer();
    release();
  }
  if (refusal && failure?.code !== "aborted") throw errorOf(refusal); // it is one, whatever became of its words
  if (failure) throw failure;

  async function exchange(): Promise<void> {
    limit(options.totalMs, "did not finish within", options.begunAt);
    const silence = limit(options.firstByteMs, "sent no answer for");
    const response = await send();
    failing = "Lost the connection to";
    limits.delete(silence);
    if (!response.ok) refusal = response;
    const decoder = refusal && new TextDecoder();
    if (!reader) return;
    const idle = limit(options.idleMs, "sent nothing for");
    const progress = limit(options.progressMs, "sent no content for");
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      idle.since = clock.now();
      if (decoder) {
        words += decoder.decode(value, { stream: true });
        if (words.length < MAX_REFUSAL_LENGTH) continue;
        return;
      }
      const verdict = options.onChunk(value);
      isComplete = verdict === "complete";
      if (isComplete) return;
      if (verdict === "progress") progress.since = idle.since;
    }
  }

  /** How what is left ends is of no interest. What comes after the end is left, too. */
  function leave(): void {
    if (reader) (isComplete ? drain(reader, clock) : reader.cancel()).catch(() => {});
  }

  function errorOf(response: Response): BowlineError {
    const { status } = response;
    const headers = Object.fromEntries(response.headers);
    if (status >= 400) {
      const { model } = options;
      return errorOfResponse({
        status,
        headers,
        sent: Object.keys(request.headers),
        body: words,
        url,
        model,
        now: clock.now(),
      });
    }
    const target = headers.location ?? "another address"; // which browsers do not tell, nor the status
    const message = `The server at ${url} redirects to ${target}: use that base URL.`;
    return new BowlineError("unexpected_response", message, { status });
  }

  /** Limits the time since now, or since `since`; 0 ms is no limit. */
  function limit(ms: number, fault: string, since = clock.now()): Limit {
    signal.throwIfAborted(); // the exchange goes on by itself for a moment: nothing may be begun that nobody ends
    const made = { ms, fault, since };
    if (ms > 0) limits.add(made);
    watch();
    return made;
  }

  /**
   * One timer for all limits. What moves a limit on leaves it alone, so that this costs a chunk
   * nothing.
   */
  function watch(): void {
    const now = clock.now();
    let next = Infinity;
    for (const { ms, fault, since } of limits) {
      next = Math.min(next, since + ms);
      if (since + ms > now) continue;
      return stop(
        new BowlineError("timeout", `The server at ${url} ${fault} ${ms} ms.`, { retryable: true }),
      );
    }
    if (next >= timerAt) return;
    stopTimer();
    timerAt = next;
    stopTimer = clock.setTimer(next - now, () => {
      timerAt = Infinity;
      watch();
    });
  }

  /**
   * Asks, also where a redirect of the same origin points that keeps method and body (Q229): keys
   * go nowhere else.
   */
  async function send(): Promise<Response> {
    // By their names in lower case: a caller's own header replaces ours, where fetch would send
    // both.
    const headers: Record<string, string> = {};
    for (const name of Object.keys(request.headers))
      headers[name.toLowerCase()] = request.headers[name] ?? "";
    if (fresh) headers.connection = "close";
    let target = url;
    for (let redirects = 0; ; redirects++) {
      signal.throwIfAborted();
      const response = await fetch(target, {
        method: "POST",
        headers,
        body: request.body,
        redirect: "manual", // a followed 302 turns the POST into a GET whose page would pass for an answer
        signal,
        ...(fresh && { keepalive: false }), // the default, but Bun takes it for this
      });
      reader = response.body?.getReader();
      signal.throwIfAborted();
      await options.onResponse?.({
        status: response.status,
        headers: Object.fromEntries(response.headers),
      });
      const next = redirectOf(response, target);
      if (!next || redirects === MAX_REDIRECTS) return response;
      await reader?.cancel();
      target = next;
    }
  }
}

/**
 * Reads what follows a complete answer, mostly nothing: only then does its connection serve the
 * next request. A body that is open still after `DRAIN_MS` is given up.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const stop = clock.setTimer(DRAIN_MS, () => void reader.cancel().catch(() => {}));
  try {
    while (!(await reader.read()).done);
  } finally {
    stop();
  }
}

/**
 * Where to ask again; undefined when the answer is another, or the target is not of this origin.
 */
function redirectOf({ status, headers }: Response, url: string): string | undefined {
  if (status !== 307 && status !== 308) return undefined;
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, url)) return undefined;
  const { origin, href } = new URL(location, url);
  return origin === new URL(url).origin ? href : undefined;
}

/** Node hides the reason in `cause`; without it "fetch failed" says nothing. */
function connectionError(error: unknown, failing: string): BowlineError {
  const { cause, name } = asRecord(error);
  const { code: reason, message } = asRecord(cause);
  const why = errorText(reason ?? message ?? error);
  // A fetch has limits of its own (Q236): Node's are undici's, Bun's and an `AbortSignal.timeout`
  // have the standard's name.
  const isTimeout = name === "TimeoutError" || why.includes("_TIMEOUT");
  const code = isTimeout ? "timeout" : "connection_failed";
  return new BowlineError(code, `${failing}: ${why}`, { retryable: true, cause: error });
}
