/**
 * The order and times of all answers that a run received: chunks, tool results, timers, Ctrl-C.
 * Answers are delivered one by one, each after the effects of the previous one; time stands still
 * in between. A run with the same answers in the same order therefore repeats byte for byte.
 */
import { setImmediate as settled } from "node:timers/promises";
import type { Clock } from "@bowline/core";

export interface Journal {
  /** The time of the last answer. */
  now(): number;
  /**
   * Registers an answer. `deliver` is called in its turn, never before this returns. Returns a
   * function that withdraws the answer.
   */
  arrive(name: string, deliver: () => void): () => void;
}

/** The name of the answer, and the milliseconds since the previous one. */
export type JournalEntry = readonly [name: string, afterMs: number];

export interface JournalWriter extends Journal {
  readonly startedAt: number;
  readonly entries: readonly JournalEntry[];
}

/** Delivers answers in the order of arrival and records that order. */
export function writeJournal(clock: Clock): JournalWriter {
  const startedAt = clock.now();
  const entries: JournalEntry[] = [];
  const waiting = new Set<{ readonly name: string; readonly deliver: () => void }>();
  let now = startedAt;
  let working = false;
  return {
    startedAt,
    entries,
    now: () => now,
    arrive(name, deliver) {
      const answer = { name, deliver };
      waiting.add(answer);
      if (!working) void work();
      return () => void waiting.delete(answer);
    },
  };

  async function work(): Promise<void> {
    working = true;
    while (waiting.size > 0) {
      await settled();
      const [answer] = waiting;
      if (answer === undefined) break;
      waiting.delete(answer);
      const last = now;
      now = Math.max(now, clock.now()); // the system clock may be set back
      entries.push([answer.name, now - last]);
      answer.deliver();
    }
    working = false;
  }
}

export interface JournalReader extends Journal {
  /**
   * Rejects when the next answer in the journal does not arrive: the run took another path, or
   * continued after the journal's end.
   */
  readonly lost: Promise<never>;
  /** Rejects {@link lost} at once. */
  lose(why: string): void;
  /** Call when the run is over: no more answers are expected. */
  end(): void;
}

const PATIENCE_MS = 3000;

/** Delivers answers in the order of the journal. Each registered answer waits for its turn. */
export function readJournal(
  startedAt: number,
  entries: readonly JournalEntry[],
  clock: Clock,
): JournalReader {
  const waiting = new Map<string, Set<() => void>>();
  let now = startedAt;
  let next = 0;
  let working = false;
  let ended = false;
  let giveUp: (error: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => (giveUp = reject));
  lost.catch(() => {}); // the replay's caller handles it
  let stopTimer = clock.setTimer(PATIENCE_MS, stuck);
  return {
    now: () => now,
    arrive(name, deliver) {
      const answers = waiting.get(name) ?? new Set();
      waiting.set(name, answers.add(deliver));
      if (!working) void work();
      return () => void answers.delete(deliver);
    },
    lost,
    lose: (why) => giveUp(new Error(why)),
    end() {
      ended = true;
      stopTimer();
    },
  };

  async function work(): Promise<void> {
    working = true;
    while (isNextHere()) {
      await settled();
      const [name, afterMs] = entries[next] ?? ["", 0];
      const answers = waiting.get(name);
      const [deliver] = answers ?? [];
      if (deliver === undefined) continue;
      answers?.delete(deliver);
      next++;
      now += afterMs;
      stopTimer();
      deliver();
      if (!ended) stopTimer = clock.setTimer(PATIENCE_MS, stuck);
    }
    working = false;
  }

  function isNextHere(): boolean {
    const name = entries[next]?.[0];
    return name !== undefined && (waiting.get(name)?.size ?? 0) > 0;
  }

  function stuck(): void {
    const name = entries[next]?.[0];
    const where =
      name === undefined
        ? "it ends before the run does"
        : `the run did not come to step ${next}, ${name}`;
    giveUp(new Error(where));
  }
}

/** Performs `work` and delivers its outcome in its turn. */
export async function inTurn<T>(
  journal: Journal,
  name: string,
  work: () => T | Promise<T>,
): Promise<T> {
  let end: () => T;
  try {
    const value = await work();
    end = () => value;
  } catch (error) {
    end = () => {
      throw error;
    };
  }
  await new Promise<void>((resolve) => journal.arrive(name, resolve));
  return end();
}

/**
 * A clock that shows the journal's time. Timers are named by number. With a `real` clock they run
 * on it, otherwise the journal fires them.
 */
export function journalClock(journal: Journal, real?: Clock): Clock {
  let timers = 0;
  return {
    now: () => journal.now(),
    setTimer(ms, fire) {
      const name = `timer ${timers++}`;
      if (real === undefined) return journal.arrive(name, fire);
      let withdraw = (): void => {};
      const stop = real.setTimer(ms, () => {
        withdraw = journal.arrive(name, fire);
      });
      return () => {
        stop();
        withdraw();
      };
    },
  };
}

/** Delivers responses and their chunks in turn. */
export function journalFetch(
  journal: Journal,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  let requests = 0;
  return async (input, init) => {
    const name = `fetch ${requests++}`;
    const response = await inTurn(journal, name, () => fetch(input, init));
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value } = await inTurn(journal, name, () => reader.read());
          if (value === undefined) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const { status, headers, url } = response;
    return Object.defineProperty(new Response(body, { status, headers }), "url", { value: url });
  };
}
