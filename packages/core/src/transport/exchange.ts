/** One request and its response, read chunk by chunk under limits on time. */
import { monotonicNow, onAbort, type Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { PostOptions, PostRequest } from "./request.ts";
import { TimeLimits, type TimeLimit } from "./time-limits.ts";

const MAX_REDIRECTS = 3;
const DRAIN_MS = 500;
/** How much of a refusal is read: more than any reason takes. */
const MAX_REFUSAL_LENGTH = 64 * 1024;

export class Exchange {
  readonly #request: PostRequest;
  readonly #options: PostOptions;
  /**
   * Aborted with an error of ours. Nothing of ours listens to its signal: Node's fetch keeps the
   * signal for as long as anything that is reached from it is kept.
   */
  readonly #controller = new AbortController();
  readonly #limits: TimeLimits;
  /** Rejects when the exchange is stopped. */
  readonly #stopped: Promise<never>;
  #reject!: (reason: BowlineError) => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isComplete = false;
  /** What the server answered, from its headers on. */
  response: Response | undefined;
  /** The text of a response that is not 2xx, as far as it has come. */
  words = "";

  constructor(request: PostRequest, options: PostOptions) {
    this.#request = request;
    this.#options = options;
    this.#limits = new TimeLimits(options.clock, ({ ms, fault }) =>
      this.#stop(
        new BowlineError("timeout", `The server at ${request.url} ${fault} ${ms} ms.`, {
          retryable: true,
        }),
      ),
    );
    this.#stopped = new Promise((_, reject) => (this.#reject = reject));
  }

  /** Resolves when the body ended, or `onChunk` said that the answer is complete. */
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
    this.#reject(reason); // before whatever a fetch makes of its signal
    this.#controller.abort(reason);
    this.#leave();
  }

  /** How what is left ends is of no interest. What comes after the end is left, too. */
  #leave(): void {
    const reader = this.#reader;
    if (!reader) return;
    (this.#isComplete ? drain(reader, this.#options.clock) : reader.cancel()).catch(() => {});
  }

  /** Throws when stopped: what runs on for a moment may begin nothing that nobody ends. */
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
    const silence = this.#limit(firstByteMs, "sent no answer for");
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
   * Asks, also where a redirect of the same origin points that keeps method and body: keys
   * go nowhere else.
   */
  // Q229
  async #send(): Promise<Response> {
    const { url, body } = this.#request;
    const { fetch, fresh, onResponse } = this.#options; // called without a receiver: browsers refuse `fetch` as a method of another object
    const headers = this.#headers();
    let target = url;
    for (let redirects = 0; ; redirects++) {
      this.#assertRunning();
      const response = await fetch(target, {
        method: "POST",
        headers,
        body,
        redirect: "manual", // a followed 302 turns the POST into a GET whose page would pass for an answer
        signal: this.#controller.signal,
        ...(fresh && { keepalive: false }), // the default, but Bun takes it for this
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

  /** By their names in lower case: a caller's own replaces ours, where fetch would send both. */
  #headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const given = this.#request.headers;
    for (const name of Object.keys(given)) headers[name.toLowerCase()] = given[name] ?? "";
    if (this.#options.fresh) headers.connection = "close";
    return headers;
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
