/** Waits with an end: a test that only hangs names nothing, and keeps the others waiting. */

/** Rejects with `what` when the work takes longer. */
export async function within<T>(what: string, work: Promise<T>, ms = 10_000): Promise<T> {
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not within ${ms} ms: ${what}.`)), ms);
    stop = () => clearTimeout(timer);
  });
  return Promise.race([work, late]).finally(stop);
}

/** Resolves when it is so. Rejects with `what` when it is not so in time. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  ms = 10_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
