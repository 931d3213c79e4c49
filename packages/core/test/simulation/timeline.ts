/**
 * The time of a simulation. It moves only when nothing else can run: the caller waits one turn of
 * the event loop, which empties the microtask queue, and then fires the next timer. Timers that are
 * due together fire in random order.
 */
import { sleep, type Clock } from "../../src/clock.ts";
import type { Random } from "./random.ts";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** A clock of the timeline that counts its own pending timers. */
export interface CountingClock extends Clock {
  readonly pending: number;
}

const BEGINNING = 1_000_000;

export class Timeline {
  readonly #random: Random;
  readonly #timers = new Set<Timer>();
  #now = BEGINNING;
  #afterwards: (() => void)[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  /** Milliseconds since the simulation began. */
  get elapsed(): number {
    return this.#now - BEGINNING;
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(ms, 0), fire };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Resolves after `ms`, or when the signal fires. Leaves no timer or listener. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleep(
      { now: () => this.#now, setTimer: (delay, fire) => this.after(delay, fire) },
      ms,
      signal,
    );
  }

  /** A clock for one party, so that its remaining timers can be distinguished from others. */
  clock(yields = false): CountingClock {
    const own = new Set<() => void>();
    return {
      now: () => this.#now,
      ...(yields && { yield: () => this.sleep(0) }),
      setTimer: (ms, fire) => {
        const cancel = this.after(ms, () => {
          own.delete(cancel);
          fire();
        });
        own.add(cancel);
        return () => {
          own.delete(cancel);
          cancel();
        };
      },
      get pending() {
        return own.size;
      },
    };
  }

  /** Calls `then` after everything else that happens at this time. */
  afterwards(then: () => void): void {
    this.#afterwards.push(then);
  }

  /** Moves to the next timer and fires it. Returns false if there is none. */
  step(): boolean {
    let next: Timer | undefined;
    let rivals = 1;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at) {
        next = timer;
        rivals = 1;
      } else if (timer.at === next.at && this.#random.chance(1 / ++rivals)) next = timer;
    }
    if (next === undefined || next.at > this.#now) {
      for (const then of this.#afterwards.splice(0)) then();
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = next.at;
    next.fire();
    return true;
  }
}

/** Waits one turn of the event loop, which empties the microtask queue. */
export function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits for `count` microtasks, so that events interleave in every order. */
export async function hops(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await Promise.resolve();
}
