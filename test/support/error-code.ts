/** Matchers for `assert.rejects` and `assert.throws`. */
import { isBowlineError, type ErrorCode } from "@bowline/core";

/** Matches a Bowline error with this code. */
export const code =
  (expected: ErrorCode) =>
  (error: unknown): boolean =>
    isBowlineError(error) && error.code === expected;
