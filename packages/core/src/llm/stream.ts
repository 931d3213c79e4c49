/**
 * A stream of events with a result, produced in batches. One reader; reading is observational, so the producer never waits for
 * it, and what was not read yet is held (events hold increments, so the whole costs what the answer costs). Breaking out of the
 * iteration aborts the producer.
 */
import { onAbort } from "../clock.ts";
import { BowlineError } from "../errors.ts";

/** Takes a batch, which becomes the stream's own. A reader that leaves after the last one aborts nothing. */
export type Push<T> = (batch: readonly T[], isLast?: boolean) => void;

/** Makes the events. `signal` fires when the reader leaves, and with the caller's. */
export type Produce<T, R> = (push: Push<T>, signal: AbortSignal) => Promise<R>;

export class EventStream<T, R> implements AsyncIterable<T> {
  readonly #abort = new AbortController();
  readonly #result: Promise<R>;
  #pending: (readonly T[])[] = [];
  #ended = false;
  #isLast = false;
  #taken = false;
  #wake: (() => void) | undefined;

  static readonly kept: EventStream<unknown, void> = new EventStream(() => Promise.resolve());

  /** Starts `produce` at once. A `produce` that rejects makes reading and {@link result} reject with the same error. */
  constructor(produce: Produce<T, R>, signal?: AbortSignal) {
    this.#result = this.#run(produce, signal);
    this.#result.catch(() => {}); // a reader may never ask for the result; reading still rejects
  }

  /** What the stream comes to. Settles when the producer is done, read or not. */
  result(): Promise<R> {
    return this.#result;
  }

  /** Batches as they were produced: one await for each, however many events it holds. */
  async *batches(): AsyncGenerator<readonly T[], void, undefined> {
    if (this.#taken) throw new BowlineError("invalid_state", "A stream has one reader.");
    this.#taken = true;
    try {
      for (;;) {
        const batches = this.#pending;
        this.#pending = [];
        for (const batch of batches) yield batch;
        if (this.#pending.length > 0) continue;
        if (this.#ended) return void (await this.#result);
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      if (!this.#ended && !this.#isLast) this.#abort.abort();
    }
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T, void, undefined> {
    return new OneByOne(this.batches());
  }

  async #run(produce: Produce<T, R>, signal: AbortSignal | undefined): Promise<R> {
    const release = onAbort(signal, () => this.#abort.abort(signal?.reason));
    try {
      return await produce((batch, isLast = false) => {
        if (batch.length === 0) return;
        this.#isLast = isLast;
        this.#pending.push(batch);
        this.#notify();
      }, this.#abort.signal);
    } finally {
      release();
      this.#ended = true;
      this.#notify();
    }
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** Hands out batches event by event, as an asynchronous generator would, whose `yield` costs more than a delta's other work. */
class OneByOne<T> implements AsyncIterableIterator<T, void, undefined> {
  /** As of `LiveDelta`. */
  static readonly kept: OneByOne<unknown> = new OneByOne(undefined as never);
  readonly #batches: AsyncGenerator<readonly T[], void, undefined>;
  #batch: readonly T[] = [];
  #next = 0;
  /** The batch that is waited for. */
  #waiting: Promise<IteratorResult<T, void>> | undefined;

  constructor(batches: AsyncGenerator<readonly T[], void, undefined>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    const next = (): Promise<IteratorResult<T, void>> => this.next();
    if (this.#waiting) return this.#waiting.then(next, next);
    if (this.#next < this.#batch.length) return Promise.resolve({ done: false, value: this.#batch[this.#next++] as T });
    this.#waiting = this.#more();
    return this.#waiting;
  }

  async #more(): Promise<IteratorResult<T, void>> {
    try {
      const { done, value } = await this.#batches.next();
      if (done) return { done, value: undefined };
      this.#batch = value;
      this.#next = 1;
      return { done: false, value: value[0] as T };
    } finally {
      this.#waiting = undefined;
    }
  }

  async return(): Promise<IteratorReturnResult<void>> {
    await this.#batches.return();
    this.#batch = [];
    return { done: true, value: undefined };
  }
}

/** The bytes, or the events, ended before a terminal one. */
export function truncated(): BowlineError {
  return new BowlineError("stream_truncated", "The stream ended before the answer was complete.", { retryable: true });
}

/** Any stream in batches: those it offers, or one event at a time. Who leaves does not wait until a stranger lets go. */
export async function* batchesOf<T>(
  stream: AsyncIterable<T> & { batches?(): AsyncIterable<readonly T[]> },
): AsyncGenerator<readonly T[]> {
  const offered = stream.batches?.();
  const iterator: AsyncIterator<T | readonly T[]> = (offered ?? stream)[Symbol.asyncIterator]();
  let isOpen = false;
  try {
    for (let next; !(next = await iterator.next()).done;) {
      isOpen = true;
      yield offered ? (next.value as readonly T[]) : [next.value as T];
      isOpen = false;
    }
  } finally {
    if (isOpen) void (async () => iterator.return?.())().catch(() => {}); // how it lets go is of no interest
  }
}
