import { onAbort, type Clock } from "../../clock.ts";

/**
 * Awaits user code. Resolves with `instead` when the signal fires, at once or after the grace
 * period.
 */
export function untilAborted<T>(
  waited: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
  instead: T,
  grace?: { readonly clock: Clock; readonly graceMs: number },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const releases: (() => void)[] = [];
    const leave = (): void => resolve(instead);
    releases.push(
      onAbort(signal, () => {
        if (grace?.graceMs) releases.push(grace.clock.setTimer(grace.graceMs, leave));
        else leave();
      }),
    );
    void Promise.resolve(waited)
      .then(resolve, reject)
      .finally(() => {
        for (const release of releases) release();
      });
  });
}
