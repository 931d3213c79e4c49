/** A clock whose time passes when a test says so. */
import type { Clock } from "@bowline/core";

export class ManualClock implements Clock {
  #now = 1_000;
  #pending: { readonly at: number; readonly fire: () => void }[] = [];

  /** The number of timers that have not fired. */
  get timers(): number {
    return this.#pending.length;
  }

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire };
    this.#pending.push(timer);
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer);
    };
  }

  /** Fires the timers of the next `ms` milliseconds in their order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#pending.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#pending = this.#pending.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.fire();
    }
    this.#now = end;
  }
}
