import { BowlineError, errorText } from "../../errors.ts";

/** The error of a run that was aborted; `reason` is what the caller gave, if anything. */
export function abortedRun(reason?: unknown): BowlineError {
  if (reason === undefined) return new BowlineError("aborted", "The run was aborted.");
  const message = `The run was aborted: ${errorText(reason)}`;
  return new BowlineError("aborted", message, { cause: reason });
}
