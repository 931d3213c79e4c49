/**
 * A stream of events with a result, produced in batches. One reader; reading is observational, so
 * the producer never waits for it, and what was not read yet is held (events hold increments, so
 * the whole costs what the answer costs). Breaking out of the iteration aborts the producer.
 */
import { onAbort } from "../clock.ts";
import { BowlineError } from "../errors.ts";

/**
 * Takes a batch, which becomes the stream's own. A reader that leaves after the last one aborts
 * nothing.
 */
export type Push<T> = (batch: readonly T[], isLast?: boolean) => void;

/** Makes the events. `signal` fires when the reader leaves, and with the caller's. */
export type Produce<T, R> = (push: Push<T>, signal: AbortSignal) => Promise<R>;

export class EventStream<T, R> implements AsyncIterable<T> {
  readonly #controller = new AbortController();
  readonly #result: Promise<R>;
  #pending: (readonly T[])[] = [];
  /** Whether nothing more comes: the producer has settled, or pushed its last batch. */
  #isComplete = false;
  #hasSettled = false;
  /** The reader that reads. */
  #reader: object | undefined;
  #hasLeft = false;
  #wake = (): void => {};

  /**
   * Starts `produce` at once. A `produce` that rejects makes reading and {@link result} reject with
   * the same error.
   */
  constructor(produce: Produce<T, R>, signal?: AbortSignal) {
    this.#result = this.#run(produce, signal);
    this.#result.catch(() => {}); // a reader may never ask for the result; reading still rejects
  }

  /** What the stream comes to. Settles when the producer is done, read or not. */
  result(): Promise<R> {
    return this.#result;
  }

  /** Batches as they were produced: one await for each, however many events it holds. */
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
 * Calls `leave` as soon as the reader returns. A generator queues `return()` behind a pending
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

/** The bytes, or the events, ended before a terminal one. */
export function truncated(): BowlineError {
  return new BowlineError("stream_truncated", "The stream ended before the answer was complete.", {
    retryable: true,
  });
}

/** The failure of a stream that contradicts itself, or that nobody can read. */
export function corrupt(message: string): BowlineError {
  return new BowlineError("stream_corrupt", message, { retryable: true });
}

/**
 * Any stream in batches: those it offers, or one event at a time. Who leaves does not wait until a
 * stranger lets go.
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
    if (isOpen) void (async () => iterator.return?.())().catch(() => {}); // how it lets go is of no interest
  }
}
