/** The description of a prompt or a resource, bounded. */
import { cutText } from "./cut-text.ts";

const MAX_DESCRIPTION = 4_000;

/** Returns the field `description`, or nothing if the server gave none. */
export function described(description: string | undefined): { description?: string } {
  return description ? { description: cutText(description, MAX_DESCRIPTION) } : {};
}
