/**
 * A stream of events with a result, produced in batches, for one reader. The producer never waits
 * for the reader: unread batches are buffered. Memory stays proportional to the answer, since
 * events hold increments. Breaking out of the iteration aborts the producer.
 */
import { onAbort } from "../clock.ts";
import { BowlineError } from "../errors.ts";

/**
 * Adds a batch, which the stream then owns. With `isLast`, a reader that leaves afterwards does not
 * abort the producer.
 */
export type Push<T> = (batch: readonly T[], isLast?: boolean) => void;

/**
 * Produces the events. `signal` aborts when the reader leaves or when the caller's signal aborts.
 */
export type Produce<T, R> = (push: Push<T>, signal: AbortSignal) => Promise<R>;

export class EventStream<T, R> implements AsyncIterable<T> {
  readonly #controller = new AbortController();
  readonly #result: Promise<R>;
  #pending: (readonly T[])[] = [];
  /** Whether all batches are in: the producer has settled, or pushed its last batch. */
  #isComplete = false;
  #hasSettled = false;
  /** The current reader. */
  #reader: object | undefined;
  #hasLeft = false;
  #wake = (): void => {};

  /**
   * Starts `produce` at once. If it rejects, reading and {@link result} reject with the same error.
   */
  constructor(produce: Produce<T, R>, signal?: AbortSignal) {
    this.#result = this.#run(produce, signal);
    this.#result.catch(() => {}); // the caller may never use the result; reading rejects anyway
  }

  /**
   * Returns the producer's result. Settles when the producer does, whether or not the events are
   * read.
   */
  result(): Promise<R> {
    return this.#result;
  }

  /** Returns the batches as they were produced, with one await for each. */
  batches(): AsyncGenerator<readonly T[], void, undefined> {
    const reader = {};
    return leaving(this.#read(reader), () => {
      if (this.#take(reader)) this.#leave();
    });
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const batches = this.batches();
    return leaving(oneByOne(batches), () => batches.return());
  }

  async *#read(reader: object): AsyncGenerator<readonly T[], void, undefined> {
    if (!this.#take(reader)) throw new BowlineError("invalid_state", "A stream has one reader.");
    try {
      while (!this.#hasLeft) {
        const batches = this.#pending;
        this.#pending = [];
        for (const batch of batches) yield batch;
        if (this.#pending.length > 0) continue;
        if (this.#hasSettled) return void (await this.#result);
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#leave();
    }
  }

  #take(reader: object): boolean {
    this.#reader ??= reader;
    return this.#reader === reader;
  }

  #leave(): void {
    if (!this.#isComplete) this.#controller.abort();
    this.#hasLeft = true;
    this.#pending = [];
    this.#wake();
  }

  async #run(produce: Produce<T, R>, signal: AbortSignal | undefined): Promise<R> {
    const release = onAbort(signal, () => this.#controller.abort(signal?.reason));
    try {
      return await produce((batch, isLast = false) => {
        if (batch.length === 0 || this.#hasLeft) return;
        this.#isComplete = isLast;
        this.#pending.push(batch);
        this.#wake();
      }, this.#controller.signal);
    } finally {
      release();
      this.#isComplete = true;
      this.#hasSettled = true;
      this.#wake();
    }
  }
}

async function* oneByOne<T>(
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<T, void, undefined> {
  for await (const batch of batches) for (const event of batch) yield event;
}

/**
 * Calls `leave` as soon as the reader returns. A generator queues `return()` after a pending
 * `next()`, so a reader that leaves while the producer is silent would not abort it.
 */
function leaving<E>(
  reader: AsyncGenerator<E, void, undefined>,
  leave: () => unknown,
): AsyncGenerator<E, void, undefined> {
  const end = reader.return.bind(reader);
  return Object.assign(reader, {
    return: (value: void | PromiseLike<void>) => {
      leave();
      return end(value);
    },
  });
}

/** Returns the error of a stream that ended before a terminal event. */
export function truncated(): BowlineError {
  return new BowlineError("stream_truncated", "The stream ended before the answer was complete.", {
    retryable: true,
  });
}

/** Returns the error of a stream that contradicts itself or cannot be parsed. */
export function corrupt(message: string): BowlineError {
  return new BowlineError("stream_corrupt", message, { retryable: true });
}

/**
 * Reads any stream in batches: its own, or one event at a time. Leaving does not wait for the
 * stream's `return()`, since foreign code may hang there.
 */
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
    // Errors of this cleanup do not matter.
    if (isOpen) void (async () => iterator.return?.())().catch(() => {});
  }
}
