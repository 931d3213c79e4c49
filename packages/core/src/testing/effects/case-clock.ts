/** The time of a case: it moves only when nothing else can happen. */
import type { Clock } from "../../clock.ts";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export class CaseClock {
  readonly #timers = new Set<Timer>();
  #now = 1_000_000;

  now(): number {
    return this.#now;
  }

  /** Returns a clock whose timers end when the signal fires, as those of a dead process do. */
  view(stopped: AbortSignal): Clock {
    return {
      now: () => this.#now,
      setTimer: (ms, fire) => {
        const timer = { at: this.#now + Math.max(0, ms), fire: () => stopped.aborted || fire() };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  /** Moves to the next timer and fires it. Does nothing if there is none. */
  step(): void {
    const next = [...this.#timers].toSorted((a, b) => a.at - b.at)[0];
    if (next === undefined) return;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.fire();
  }
}

/** Lets everything run that can run without a timer and without I/O. */
export async function atRest(): Promise<void> {
  for (let hop = 0; hop < 100; hop++) await Promise.resolve();
}
