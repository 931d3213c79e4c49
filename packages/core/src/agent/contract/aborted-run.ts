import { BowlineError, errorText } from "../../errors.ts";

/**
 * Returns the error of an aborted run. `reason` is what the caller passed to `abort()`, if
 * anything.
 */
export function abortedRun(reason?: unknown): BowlineError {
  if (reason === undefined) return new BowlineError("aborted", "The run was aborted.");
  const message = `The run was aborted: ${errorText(reason)}`;
  return new BowlineError("aborted", message, { cause: reason });
}
