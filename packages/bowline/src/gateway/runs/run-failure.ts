/** Errors of runs that failed outside of the model and the tools, as clients see them. */
import { BowlineError, isBowlineError, toErrorInfo, type ErrorInfo } from "@bowline/core";

export function infoOf(error: unknown): ErrorInfo {
  if (isBowlineError(error)) return toErrorInfo(error);
  return {
    code: "internal_error",
    message: "The run failed because of an internal error of the server.",
    retryable: false,
  };
}

/** Returns the error of a run that was resumed this often, each time by a server that crashed. */
export function diedWith(restarts: number): BowlineError {
  const times = restarts + 1;
  return new BowlineError(
    "internal_error",
    `The server died ${times} times while this run went on, so it is not taken up any more.`,
  );
}
