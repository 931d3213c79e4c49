/**
 * The latest events of a run for any number of readers, each at a place of its own. Writing never
 * waits for a reader, and the log is bounded: a reader that falls behind the oldest event gets an
 * error.
 */
import { BowlineError } from "../../errors.ts";

export class EventLog<T> {
  readonly #limit: number;
  /** Up to twice the limit: what is too old goes in one step. */
  #held: T[] = [];
  /** The place of the first held event. */
  #first = 0;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  /** Settles when there is more to read. Absent while no reader waits. */
  #more: Promise<void> | undefined;
  #wake = (): void => {};

  /** Holds at least the last `limit` events. */
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

  /** Readers that have read everything reject with `error`. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  /**
   * Yields all events from the first on, in batches: each holds what came since the one before.
   * Rejects with `reader_too_slow` when the next event is no longer held.
   */
  async *batches(): AsyncGenerator<readonly T[], void, undefined> {
    let next = 0;
    for (;;) {
      const end = this.#first + this.#held.length;
      if (next < Math.max(this.#first, end - this.#limit)) throw this.#tooSlow(next);
      if (next < end) {
        const batch = this.#held.slice(next - this.#first);
        next = end;
        yield batch;
      } else if (this.#isEnded) {
        if (this.#failure) throw this.#failure.error;
        return;
      } else {
        this.#more ??= new Promise((resolve) => (this.#wake = resolve));
        await this.#more;
      }
    }
  }

  #tooSlow(next: number): BowlineError {
    return new BowlineError(
      "reader_too_slow",
      `The reader is more than ${this.#limit} events behind: event ${next} is no longer held. Read faster, or raise maxHeldEvents.`,
    );
  }

  #wakeReaders(): void {
    this.#more = undefined;
    this.#wake();
  }
}
