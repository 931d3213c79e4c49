/** The lines that a stored conversation showed, from the session alone. */
import type { Session } from "@bowline/core/session";
import { Past } from "./past.ts";
import { View, type ViewOptions } from "./view.ts";

export async function* replayLines(session: Session, options: ViewOptions): AsyncGenerator<string> {
  const past = new Past();
  const view = new View(options);
  for (const entry of await session.path(undefined, { files: false }))
    for (const block of past.blocks(entry)) yield* view.lines(block);
  for (const block of past.end()) yield* view.lines(block);
}
