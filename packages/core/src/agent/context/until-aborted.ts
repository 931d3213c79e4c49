import { onAbort, type Clock } from "../../clock.ts";

/** What somebody else is waited for, or `instead` when the signal fires: at once, or after a grace. */
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
