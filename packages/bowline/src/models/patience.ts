/** Trying again while a server is down or busy, for a time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorInfo } from "@bowline/core";

/** How long somebody waits for a server, and who is told. */
export interface Patience {
  /** From the first failure on, in milliseconds: no try begins later. */
  readonly retryMs: number;
  /** Ends the wait and the request. */
  readonly signal?: AbortSignal;
  /** Called for each failure behind which there is another try; `server` is host and port. */
  readonly onRetry: (error: ErrorInfo, server: string) => void;
}

const BASE_MS = 500;
const CAP_MS = 8000;

/**
 * The result of `work`, which is called again while `failureOf` says that its failure may pass, after
 * half a second first, then twice as long each time, 8 s at most, or as the server says. Throws the
 * last failure, and the signal's reason.
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
