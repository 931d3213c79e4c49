/**
 * The source of time. Callers pass it in, so tests can control it and durable engines can record
 * it.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since an arbitrary moment, unaffected by changes to the system time. Durations are
   * measured with it. Default: {@link now}.
   */
  monotonic?(): number;
  /**
   * Calls `fire` once after `ms` milliseconds. The returned function cancels the timer and may be
   * called twice.
   */
  setTimer(ms: number, fire: () => void): () => void;
  /** Yields to other work of this process. When absent, the code does not yield. */
  yield?(): Promise<void>;
}

/** The clock of the system. The default wherever a clock can be passed. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.now()),
  setTimer: (ms, fire) => {
    // setTimeout fires at once for delays above 2^31-1 ms.
    const timer = setTimeout(fire, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
  yield: () => new Promise((resolve) => void setTimeout(resolve)),
};

/** Returns the time, in milliseconds, to measure durations with. */
export function monotonicNow(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now();
}

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` fires. Check the signal afterwards.
 * Removes its timer and listener in both cases.
 */
export async function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const releases: (() => void)[] = [];
  await new Promise<void>((resolve) =>
    releases.push(clock.setTimer(ms, resolve), onAbort(signal, resolve)),
  );
  for (const release of releases) release();
}

/**
 * Calls `listener` when the signal fires, or at once if it has already fired. Returns a function
 * that removes the listener.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) {
    listener();
    return () => {};
  }
  signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** A random UUID: the default for run and tool call ids. */
export const randomId = (): string => crypto.randomUUID();
