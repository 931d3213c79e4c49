/** Bounds a wait by time and by a signal. */
import { BowlineError, type Clock } from "@bowline/core";

/**
 * Runs `work` with a signal that fires after `ms` milliseconds or with the outer signal. Rejects
 * then, whether `work` notices or not: with `timeout` and the message `late`, or with `aborted`.
 */
export async function withDeadline<T>(
  clock: Clock,
  { ms, signal, late }: { ms: number; signal?: AbortSignal | undefined; late: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), {
      once: true,
    });
  });
  const abort = (): void =>
    controller.abort(
      new BowlineError("aborted", "The call was cancelled.", { cause: signal?.reason }),
    );
  const cancel = Number.isFinite(ms)
    ? clock.setTimer(ms, () => controller.abort(new BowlineError("timeout", late)))
    : () => {};
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([stopped, work(controller.signal)]);
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
  }
}
