/** The time of a case: it moves only when nothing else can happen. */
import { monotonicNow, type Clock } from "../../clock.ts";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export class CaseClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now = 1_000_000;

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), fire };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
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

/**
 * Returns the clock with timers that end when the signal fires, as those of a dead process do. It has
 * no `yield`, because a wait of the clock between two results is none of the engine's.
 */
export function untilStopped(clock: Clock, stopped: AbortSignal): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => monotonicNow(clock),
    setTimer: (ms, fire) => clock.setTimer(ms, () => stopped.aborted || fire()),
  };
}

/** Lets everything run that can run without a timer and without I/O. */
export async function atRest(): Promise<void> {
  for (let hop = 0; hop < 100; hop++) await Promise.resolve();
}
