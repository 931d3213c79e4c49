/** Watches several time limits with one timer. */
import { monotonicNow, type Clock } from "../clock.ts";

/** A limit in milliseconds, and the phrase that describes a server that exceeds it. */
export interface TimeLimit {
  readonly ms: number;
  readonly fault: string;
  /**
   * When the limit started. Assigning a later time restarts the limit without touching the timer.
   */
  since: number;
}

export class TimeLimits {
  readonly #clock: Clock;
  readonly #onExceeded: (limit: TimeLimit) => void;
  readonly #limits = new Set<TimeLimit>();
  #timerAt = Infinity;
  #stopTimer = (): void => {};

  constructor(clock: Clock, onExceeded: (limit: TimeLimit) => void) {
    this.#clock = clock;
    this.#onExceeded = onExceeded;
  }

  /** Adds a limit from now on, or from `since`; 0 ms means no limit. */
  add(ms: number, fault: string, since: number = monotonicNow(this.#clock)): TimeLimit {
    const limit = { ms, fault, since };
    if (ms > 0) this.#limits.add(limit);
    this.#watch();
    return limit;
  }

  remove(limit: TimeLimit): void {
    this.#limits.delete(limit);
  }

  stop(): void {
    this.#stopTimer();
  }

  #watch(): void {
    const now = monotonicNow(this.#clock);
    let next = Infinity;
    for (const limit of this.#limits) {
      const end = limit.since + limit.ms;
      if (end <= now) return this.#onExceeded(limit);
      next = Math.min(next, end);
    }
    if (next >= this.#timerAt) return;
    this.#stopTimer();
    this.#timerAt = next;
    this.#stopTimer = this.#clock.setTimer(next - now, () => {
      this.#timerAt = Infinity;
      this.#watch();
    });
  }
}
