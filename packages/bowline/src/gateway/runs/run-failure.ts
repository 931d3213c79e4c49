/** What clients are told of a run that failed without a model or a tool. */
import { BowlineError, isBowlineError, toErrorInfo, type ErrorInfo } from "@bowline/core";

export function infoOf(error: unknown): ErrorInfo {
  if (isBowlineError(error)) return toErrorInfo(error);
  return {
    code: "internal_error",
    message: "The run failed for a reason of the server's own.",
    retryable: false,
  };
}

/** Of a run that was taken up so often, each time by a server that died. */
export function diedWith(restarts: number): BowlineError {
  const times = restarts + 1;
  return new BowlineError(
    "internal_error",
    `The server died ${times} times while this run went on, so it is not taken up any more.`,
  );
}
