/** The cases of core's kit that runs on Restate do not pass. `docs/restate.md` has the same list. */
import type { EffectsException } from "@bowline/core/testing";

export const exceptions: Readonly<Record<string, EffectsException>> = {
  "a steering message that skips calls": {
    reason: "the inbox is in a database, and whether a message waits is not known at once",
    failure: 'without "a new message from the user"',
  },
};
