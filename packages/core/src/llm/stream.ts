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

const over = { done: true, value: undefined } as const;

/**
 * What an asynchronous generator would do, whose `yield` costs more than all else that is done for
 * a chunk of the network, or for a delta. Who asks again while another call waits has its turn
 * behind that.
 */
abstract class Reader<E> implements AsyncIterableIterator<E, void, undefined> {
  #waiting: Promise<unknown> | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<E, void>> {
    const next = (): Promise<IteratorResult<E, void>> => this.next();
    if (this.#waiting) return this.#waiting.then(next, next);
    const value = this.take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    const waiting = this.#wait();
    this.#waiting = waiting;
    return waiting;
  }

  async #wait(): Promise<IteratorResult<E, void>> {
    try {
      const value = await this.more();
      return value === undefined ? over : { done: false, value };
    } finally {
      this.#waiting = undefined;
    }
  }

  abstract return(): Promise<IteratorReturnResult<void>>;

  /** What is at hand. */
  protected abstract take(): E | undefined;
  /** What comes next; undefined at the end. */
  protected abstract more(): Promise<E | undefined>;
}

/** What was produced and not read yet. */
class Batches<T> extends Reader<readonly T[]> {
  readonly #controller: AbortController;
  #pending: (readonly T[])[] = [];
  /** The place in it of the next one. */
  #next = 0;
  /** Settles as the producer did, which is done by then. */
  #end: Promise<unknown> | undefined;
  #isLast = false;
  #isTaken = false;
  #isLeft = false;
  #wake: (() => void) | undefined;

  constructor(controller: AbortController) {
    super();
    this.#controller = controller;
  }

  /** Throws `invalid_state` for a second reader. */
  override [Symbol.asyncIterator](): this {
    if (this.#isTaken) throw new BowlineError("invalid_state", "A stream has one reader.");
    this.#isTaken = true;
    return this;
  }

  push(batch: readonly T[], isLast: boolean): void {
    if (batch.length === 0 || this.#isLeft) return;
    this.#isLast = isLast;
    this.#pending.push(batch);
    this.#wake?.();
  }

  end(result: Promise<unknown>): void {
    this.#end = result;
    this.#wake?.();
  }

  async return(): Promise<IteratorReturnResult<void>> {
    if (!this.#end && !this.#isLast) this.#controller.abort();
    this.#isLeft = true;
    this.#pending = [];
    this.#wake?.();
    return over;
  }

  protected take(): readonly T[] | undefined {
    const batch = this.#pending[this.#next++];
    if (batch) return batch;
    this.#pending = [];
    this.#next = 0;
    return undefined;
  }

  protected async more(): Promise<readonly T[] | undefined> {
    while (!this.#isLeft) {
      const batch = this.take();
      if (batch) return batch;
      if (!this.#end) await new Promise<void>((resolve) => (this.#wake = resolve));
      else {
        this.#isLeft = true;
        await this.#end;
      }
    }
    return undefined;
  }
}

/** The same event by event. */
class OneByOne<T> extends Reader<T> {
  readonly #batches: Reader<readonly T[]>;
  #batch: readonly T[] = [];
  #next = 0;

  constructor(batches: Reader<readonly T[]>) {
    super();
    this.#batches = batches;
  }

  return(): Promise<IteratorReturnResult<void>> {
    this.#batch = [];
    return this.#batches.return();
  }

  protected take(): T | undefined {
    return this.#batch[this.#next++];
  }

  protected async more(): Promise<T | undefined> {
    const { done, value } = await this.#batches.next();
    if (done) return undefined;
    this.#batch = value;
    this.#next = 0;
    return this.take();
  }
}

export class EventStream<T, R> implements AsyncIterable<T> {
  readonly #batches: Batches<T>;
  readonly #result: Promise<R>;

  /**
   * Starts `produce` at once. A `produce` that rejects makes reading and {@link result} reject with
   * the same error.
   */
  constructor(produce: Produce<T, R>, signal?: AbortSignal) {
    const controller = new AbortController();
    const batches = new Batches<T>(controller);
    const release = onAbort(signal, () => controller.abort(signal?.reason));
    const run = async (): Promise<R> =>
      produce((batch, isLast = false) => batches.push(batch, isLast), controller.signal);
    this.#batches = batches;
    this.#result = run().finally(() => {
      release();
      batches.end(this.#result);
    });
    this.#result.catch(() => {}); // a reader may never ask for the result; reading still rejects
  }

  /** What the stream comes to. Settles when the producer is done, read or not. */
  result(): Promise<R> {
    return this.#result;
  }

  /** Batches as they were produced: one await for each, however many events it holds. */
  batches(): Reader<readonly T[]> {
    return this.#batches;
  }

  [Symbol.asyncIterator](): Reader<T> {
    return new OneByOne(this.#batches[Symbol.asyncIterator]());
  }
}

/** The bytes, or the events, ended before a terminal one. */
export function truncated(): BowlineError {
  return new BowlineError("stream_truncated", "The stream ended before the answer was complete.", {
    retryable: true,
  });
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
