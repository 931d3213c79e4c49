/** Time and ids are passed in, so that a test can own them and a durable engine can record them. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, which setting the time of the system does not change: durations
   * are measured by it. Absent: {@link now}.
   */
  monotonic?(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it and is safe to call twice. */
  setTimer(ms: number, fire: () => void): () => void;
  /** Lets everything else of this process have its turn. Absent: nothing else waits. */
  yield?(): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.now()),
  setTimer: (ms, fire) => {
    // A longer delay than 2^31-1 ms would fire at once.
    const timer = setTimeout(fire, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
  yield: () => new Promise((resolve) => void setTimeout(resolve)),
};

/** The time by which durations are measured. */
export function monotonicNow(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now();
}

/**
 * Resolves after `ms`, or as soon as `signal` fires (check the signal afterwards); leaves no timer
 * or listener behind.
 */
export async function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const releases: (() => void)[] = [];
  await new Promise<void>((resolve) =>
    releases.push(clock.setTimer(ms, resolve), onAbort(signal, resolve)),
  );
  for (const release of releases) release();
}

/** Calls `listener` when the signal fires, at once if it has. Returns what ends that. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** A random UUID: the default for run and tool call ids. */
export const randomId = (): string => crypto.randomUUID();
