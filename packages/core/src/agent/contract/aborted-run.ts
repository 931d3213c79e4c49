import { BowlineError } from "../../errors.ts";

/** The error of a run that was aborted. */
export function abortedRun(): BowlineError {
  return new BowlineError("aborted", "The run was aborted.");
}
