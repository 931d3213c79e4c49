import { onAbort } from "../../clock.ts";

/** What somebody else is waited for, or `instead`, at once, when the signal fires. */
export function untilAborted<T>(
  waited: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
  instead: T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => resolve(instead));
    void Promise.resolve(waited).then(resolve, reject).finally(release);
  });
}
