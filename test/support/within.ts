/**
 * Waits with a time limit, because a hanging test does not say what it waits for and delays the
 * others.
 */

/**
 * Longer than a loaded machine needs, so that only work that never ends is late. `npm run mutants`
 * sets it, because it makes such work on purpose, hundreds of times. In milliseconds.
 */
export const PATIENCE_MS = Number(process.env["BOWLINE_PATIENCE_MS"] ?? 60_000);

/** Rejects with `what` when the work takes longer than `ms`. */
export async function within<T>(what: string, work: Promise<T>, ms = PATIENCE_MS): Promise<T> {
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not within ${ms} ms: ${what}.`)), ms);
    stop = () => clearTimeout(timer);
  });
  return Promise.race([work, late]).finally(stop);
}

/** Polls until the condition is true. Rejects with `what` after the time limit. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  ms = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
