import { isBowlineError } from "@bowline/core";

/**
 * Returns true if a store reported that the session does not exist. Other errors, such as an
 * unreadable disk, do not mean that it is missing.
 */
export function isMissing(error: unknown): boolean {
  return isBowlineError(error) && error.code === "not_found";
}
