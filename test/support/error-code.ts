/** For `assert.rejects` and `assert.throws`. */
import { isBowlineError, type ErrorCode } from "@bowline/core";

/** Whether a thrown value is ours, with this code. */
export const code =
  (expected: ErrorCode) =>
  (error: unknown): boolean =>
    isBowlineError(error) && error.code === expected;
