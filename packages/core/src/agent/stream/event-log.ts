/**
 * A bounded buffer of a run's latest events for any number of readers, each with its own position.
 * Writing never waits for readers. A reader gets an error when the next event it needs has been
 * evicted.
 */
import { BowlineError } from "../../errors.ts";

export class EventLog<T> {
  readonly #limit: number;
  /** Grows to twice the limit, then evicts the oldest half at once. */
  #held: T[] = [];
  /** Position of the first buffered event. */
  #first = 0;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  /** Called when there is more to read, one for each reader that waits. */
  readonly #waiting: (() => void)[] = [];

  /** Buffers at least the last `limit` events. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  push(event: T): void {
    this.#held.push(event);
    if (this.#held.length >= 2 * this.#limit) {
      this.#first += this.#limit;
      this.#held = this.#held.slice(this.#limit);
    }
    this.#wakeReaders();
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeReaders();
  }

  /** Ends the log. Readers reject with `error` after the last event. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  /**
   * Yields all events from the first in batches of what is new. Rejects with `reader_too_slow` when
   * the next event has been evicted.
   */
  async *batches(): AsyncGenerator<readonly T[], void, undefined> {
    let next = 0;
    while (next < this.#end || !this.#isEnded) {
      if (next < Math.max(this.#first, this.#end - this.#limit)) throw this.#tooSlow(next);
      if (next === this.#end) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
        continue;
      }
      const batch = this.#held.slice(next - this.#first);
      next = this.#end;
      yield batch;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** The number of events so far. */
  get #end(): number {
    return this.#first + this.#held.length;
  }

  #tooSlow(next: number): BowlineError {
    return new BowlineError(
      "reader_too_slow",
      `The reader is more than ${this.#limit} events behind, and event ${next} was evicted. Read faster, or raise maxHeldEvents.`,
    );
  }

  #wakeReaders(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
