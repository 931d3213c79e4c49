/** Several limits on time, watched with one timer. */
import { monotonicNow, type Clock } from "../clock.ts";

/** How long something may take, and what is said of a server that takes longer. */
export interface TimeLimit {
  readonly ms: number;
  readonly fault: string;
  /** Moved on where the limit begins again. That leaves the timer alone, so it costs nothing. */
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

  /** Limits the time since now, or since `since`; 0 ms is no limit. */
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
