/** A run's abort: its signal, and the grace period for code that ignores the signal. */
import { monotonicNow, type Clock } from "../../clock.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import { isThenable } from "./is-thenable.ts";

export class AbortGrace {
  readonly #clock: Clock;
  readonly #graceMs: () => number;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  #abortedAt = 0;

  /** `graceMs` is called when it is needed, because the setting may change with each turn. */
  constructor(clock: Clock, graceMs: () => number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The grace period in milliseconds. */
  get ms(): number {
    return this.#graceMs();
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    this.#abortedAt = monotonicNow(this.#clock);
    this.#controller.abort(reason);
    for (const listener of this.#listeners) listener();
  }

  /**
   * Like `onAbort` of a signal, but adds and removes a listener in constant time. A signal searches
   * its listeners one by one, and thousands of tools may wait here.
   */
  onAbort(listener: () => void): () => void {
    if (this.signal.aborted) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Awaits user code. Ends when the promise settles, when `limitMs` has passed (0: no limit), or
   * when the abort grace period has passed. In the last case it resolves with `giveUp()`, or
   * rejects with `aborted` without it. Non-promises are returned as is. The grace period counts
   * from the abort for all pending waits together. With `anew` it counts from this wait.
   * Listeners use that, because they still receive the last events.
   */
  patiently<T>(
    waited: T | PromiseLike<T>,
    limitMs = 0,
    giveUp?: () => T | PromiseLike<T>,
    anew = false,
  ): T | Promise<T> {
    if (!isThenable<T>(waited)) return waited;
    const releases: (() => void)[] = [];
    const givenUp = new Promise<T>((resolve, reject) => {
      const late = (): void => reject(new Error(`took longer than ${limitMs} ms`));
      if (limitMs > 0) releases.push(this.#clock.setTimer(limitMs, late));
      const leave = (): void => (giveUp ? resolve(giveUp()) : reject(abortedRun()));
      releases.push(
        this.onAbort(() => {
          const left = this.ms - (anew ? 0 : monotonicNow(this.#clock) - this.#abortedAt);
          releases.push(this.#clock.setTimer(Math.max(0, left), leave));
        }),
      );
    });
    return Promise.race([waited, givenUp]).finally(() => {
      for (const end of releases) end();
    });
  }
}
