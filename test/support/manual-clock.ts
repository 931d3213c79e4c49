/** Clocks and waits for tests. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock } from "@bowline/core";

/** A clock that moves only by `advance()`. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #timers: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Advances by `ms`, fires due timers in order, and runs the work they start. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#timers
        .filter((timer) => timer.at <= end)
        .toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.fire();
    }
    this.#now = end;
    await settle();
  }
}

/** Runs everything that is ready. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await nextTick();
}
