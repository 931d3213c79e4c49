import { isBowlineError } from "@bowline/core";

/**
 * Whether a store says that there is no such session. What else it says, such as that the disk
 * cannot be read, is no news of that.
 */
export function isMissing(error: unknown): boolean {
  return isBowlineError(error) && error.code === "not_found";
}
