/** One request and its response, read chunk by chunk under time limits. */
import { monotonicNow, onAbort, type Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { PostOptions, PostRequest } from "./request.ts";
import { TimeLimits, type TimeLimit } from "./time-limits.ts";

const MAX_REDIRECTS = 3;
const DRAIN_MS = 500;
/** How much of an error response is read, in characters. No error message needs more. */
const MAX_REFUSAL_LENGTH = 64 * 1024;

export class Exchange {
  readonly #request: PostRequest;
  readonly #options: PostOptions;
  /**
   * Aborted with a `BowlineError`. Bowline adds no listener to its signal: Node's `fetch` keeps the
   * signal alive as long as anything that a listener refers to.
   */
  readonly #controller = new AbortController();
  readonly #limits: TimeLimits;
  /** Rejects when the exchange is aborted or a time limit expires. */
  readonly #stopped: Promise<never>;
  #reject!: (reason: BowlineError) => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isComplete = false;
  /** The response, once its headers have arrived. */
  response: Response | undefined;
  /** The body of a response that is not 2xx, as far as it was read. */
  words = "";

  constructor(request: PostRequest, options: PostOptions) {
    this.#request = request;
    this.#options = options;
    this.#limits = new TimeLimits(options.clock, ({ ms, fault }) =>
      this.#stop(
        new BowlineError("timeout", `The server at ${request.url} ${fault} ${timeText(ms)}.`, {
          retryable: true,
        }),
      ),
    );
    this.#stopped = new Promise((_, reject) => (this.#reject = reject));
  }

  /**
   * Resolves when the body ends, or when `onChunk` returns `complete`. Rejects with `aborted` or
   * `timeout`, or with what `fetch` threw.
   */
  async run(): Promise<void> {
    const release = onAbort(this.#options.signal, () =>
      this.#stop(new BowlineError("aborted", "The request was aborted.")),
    );
    try {
      // A custom fetch may ignore its signal.
      await Promise.race([this.#exchange().finally(() => this.#leave()), this.#stopped]);
    } finally {
      this.#limits.stop();
      release();
    }
  }

  #stop(reason: BowlineError): void {
    this.#reject(reason); // first, so that this error wins over the one that `fetch` throws
    this.#controller.abort(reason);
    this.#leave();
  }

  /**
   * Releases the body. Errors of this cleanup do not matter, nor does data after a complete answer.
   */
  #leave(): void {
    const reader = this.#reader;
    if (!reader) return;
    (this.#isComplete ? drain(reader, this.#options.clock) : reader.cancel()).catch(() => {});
  }

  /**
   * Throws if the exchange was stopped. Otherwise running code could start a wait that never ends.
   */
  #assertRunning(): void {
    this.#controller.signal.throwIfAborted();
  }

  #limit(ms: number, fault: string, since?: number): TimeLimit {
    this.#assertRunning();
    return this.#limits.add(ms, fault, since);
  }

  async #exchange(): Promise<void> {
    const { totalMs, begunAt, firstByteMs } = this.#options;
    this.#limit(totalMs, "did not finish within", begunAt);
    const silence = this.#limit(firstByteMs, "sent no response for");
    this.response = await this.#send();
    this.#limits.remove(silence);
    if (this.#reader) await this.#read(this.#reader, this.response.ok);
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, isOk: boolean): Promise<void> {
    const { clock, idleMs, progressMs, onChunk } = this.#options;
    const decoder = isOk ? undefined : new TextDecoder();
    const idle = this.#limit(idleMs, "sent nothing for");
    const progress = this.#limit(progressMs, "sent no content for");
    for (;;) {
      const { done, value } = await reader.read();
      this.#assertRunning();
      if (done) return;
      idle.since = monotonicNow(clock);
      if (decoder) {
        this.words += decoder.decode(value, { stream: true });
        if (this.words.length < MAX_REFUSAL_LENGTH) continue;
        return;
      }
      const verdict = onChunk(value);
      this.#isComplete = verdict === "complete";
      if (this.#isComplete) return;
      if (verdict === "progress") progress.since = idle.since;
    }
  }

  /**
   * Sends the request. Follows redirects that keep method and body, but only within the same
   * origin, so that API keys go nowhere else.
   */
  // Q229
  async #send(): Promise<Response> {
    const { url, body } = this.#request;
    // A local variable, since browsers refuse `fetch` called as a method of another object.
    const { fetch, fresh, onResponse } = this.#options;
    const headers = this.#headers();
    let target = url;
    for (let redirects = 0; ; redirects++) {
      this.#assertRunning();
      const response = await fetch(target, {
        method: "POST",
        headers,
        body,
        // Following a 302 would send a GET, and its page would pass for an answer.
        redirect: "manual",
        signal: this.#controller.signal,
        ...(fresh && { keepalive: false }), // this is the default, but Bun opens a new connection only if it is set
      });
      this.#reader = response.body?.getReader();
      this.#assertRunning();
      await onResponse?.({
        status: response.status,
        headers: Object.fromEntries(response.headers),
      });
      const next = redirectOf(response, target);
      if (!next || redirects === MAX_REDIRECTS) return response;
      await this.#reader?.cancel();
      target = next;
    }
  }

  /** Lower-cases the names, so that a caller's header replaces ours. `fetch` would send both. */
  #headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const given = this.#request.headers;
    for (const name of Object.keys(given)) headers[name.toLowerCase()] = given[name] ?? "";
    if (this.#options.fresh) headers.connection = "close";
    return headers;
  }
}

/**
 * Reads what follows a complete answer, usually nothing. Only then can the connection be reused.
 * Cancels a body that is still open after `DRAIN_MS`.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const stop = clock.setTimer(DRAIN_MS, () => void reader.cancel().catch(() => {}));
  try {
    while (!(await reader.read()).done);
  } finally {
    stop();
  }
}

/** Returns the target of a 307 or 308 redirect within the same origin, else undefined. */
function redirectOf({ status, headers }: Response, url: string): string | undefined {
  if (status !== 307 && status !== 308) return undefined;
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, url)) return undefined;
  const { origin, href } = new URL(location, url);
  return origin === new URL(url).origin ? href : undefined;
}

function timeText(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(1))} s`;
}
