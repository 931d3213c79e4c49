/** Retries requests to a server that is down or busy, for a limited time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorInfo } from "@bowline/core";

/** How long to retry a server, and who is notified. */
export interface Patience {
  /** Retry period in milliseconds from the first failure. No attempt starts later. */
  readonly retryMs: number;
  /** Ends the wait and the request. */
  readonly signal?: AbortSignal;
  /** Called for each failure that is followed by a retry. `server` is host and port. */
  readonly onRetry: (error: ErrorInfo, server: string) => void;
}

const BASE_MS = 500;
const CAP_MS = 8000;

/**
 * Calls `work` again while `failureOf` considers its failure temporary. Waits half a second,
 * doubled each time up to 8 s, or as long as the server asks. Throws the last failure, or the
 * signal's reason.
 */
export async function retrying<T>(
  server: string,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  failureOf: (error: unknown) => ErrorInfo | undefined,
  patience?: Patience,
): Promise<T> {
  const { retryMs = 0, signal, onRetry } = patience ?? {};
  let since: number | undefined;
  for (let count = 0; ; count++) {
    try {
      return await work(signal);
    } catch (error) {
      const failure = failureOf(error);
      signal?.throwIfAborted();
      since ??= performance.now();
      const delayMs = failure?.retryAfterMs ?? Math.min(CAP_MS, BASE_MS * 2 ** count);
      const isLast = performance.now() - since + delayMs > retryMs;
      if (failure === undefined || isLast) throw error;
      onRetry?.(failure, server);
      await sleep(delayMs, undefined, signal && { signal });
    }
  }
}
