/** Waits until all promises have settled, at most `ms` milliseconds. */
import type { Clock } from "@bowline/core";

export async function settledWithin(
  ms: number,
  all: Iterable<Promise<unknown>>,
  clock: Clock,
): Promise<void> {
  let stop = (): void => {};
  const late = new Promise<void>((resolve) => (stop = clock.setTimer(ms, resolve)));
  await Promise.race([Promise.allSettled(all), late]);
  stop();
}
