/** A run's abort: its signal, and the grace in which what ignores the signal is waited for. */
import { monotonicNow, type Clock } from "../../clock.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import { isThenable } from "./is-thenable.ts";

export class AbortGrace {
  readonly #clock: Clock;
  readonly #graceMs: () => number;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  #abortedAt = 0;

  /** `graceMs` is asked when it is needed: it may change with each turn. */
  constructor(clock: Clock, graceMs: () => number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How long an abort waits for what ignores its signal, in milliseconds. */
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
   * As `onAbort` of a signal, which searches its listeners one by one: thousands of tools may wait
   * here.
   */
  onAbort(listener: () => void): () => void {
    if (this.signal.aborted) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Waits for what is not ours: until it settles, until `limitMs` are over (0: no limit), or until
   * an abort's grace is over, when `giveUp` says what it came to, at once or later. Default: it
   * rejects as aborted. What is no promise has settled. The grace is one for all that is waited
   * for, counted from the abort; listeners, who hear of the end last, have one `anew`.
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
