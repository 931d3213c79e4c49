/** Follows a session: yields the current entries, then new ones from any writer, without gaps. */
import { isBowlineError } from "@bowline/core";
import type { AnyEntry, FollowOptions } from "@bowline/core/session";
import { selectSession, sourceOf, toSessionRow, type StoreContext } from "../context.ts";
import { readEntries } from "../rows/read-entries.ts";
import type { Watchers } from "./watchers.ts";

export interface Followed {
  readonly id: string;
  readonly number: number;
  readonly watchers: Watchers;
  readonly pollMs: number;
  /** Resolves when the connection listens. */
  readonly listening: () => Promise<unknown>;
}

export async function* followEntries(
  context: StoreContext,
  { id, number, watchers, pollMs, listening }: Followed,
  { from = 0, files, onDamage, signal }: FollowOptions = {},
): AsyncGenerator<readonly AnyEntry[]> {
  const isOver = (): boolean => signal?.aborted === true || watchers.isEnded;
  if (isOver()) return;
  const source = sourceOf(context, { id, number });
  const watch = watchers.watch(number);
  try {
    await listening();
    let next = from;
    while (!isOver()) {
      watch.forget();
      const rows = await source.run(selectSession(context.schema, "number"), [number]);
      const session = toSessionRow(rows[0]);
      if (session === undefined) return; // deleted
      try {
        for await (const batch of readEntries(source, session.nextSeq, {
          from: next,
          files,
          onDamage,
        })) {
          if (isOver()) return;
          yield batch;
        }
      } catch (error) {
        if (isBowlineError(error) && error.code === "not_found") return; // deleted meanwhile
        throw error;
      }
      next = Math.max(next, session.nextSeq);
      if (!isOver()) await watch.wait(pollMs, signal);
    }
  } finally {
    watch.close();
  }
}
