/** Finds the path from an entry back to the root, in one pass over the log from its end. */
import { BowlineError } from "../errors.ts";
import type { AnyEntry } from "./entry.ts";
import type { ReadOptions } from "./store.ts";

/** Reads a session's entries, as {@link Store.read} does. */
export type ReadEntries = (options: ReadOptions) => AsyncIterable<readonly AnyEntry[]>;

/**
 * Returns the entries that lead to `at` (default: the last entry), oldest first. Stops at the root,
 * or at the first entry for which `isEnough` returns true; that entry is included. `isEnough` is
 * called for each entry, newest first. Rejects with `not_found` if there is no `at`.
 *
 * A parent is before its child in the log, so nothing is read twice. A parent that is missing was
 * damaged. The path then continues with the entry before the first gap in `seq`. This is the
 * parent's parent, unless the session was rewound at that point.
 */
export async function pathTo(
  read: ReadEntries,
  at?: string,
  isEnough: (entry: AnyEntry) => boolean = () => false,
): Promise<AnyEntry[]> {
  const path: AnyEntry[] = [];
  let wanted = at;
  let from: number | undefined;
  for (;;) {
    let beforeGap: AnyEntry | undefined;
    let last: number | undefined;
    for await (const batch of read({ reverse: true, from })) {
      for (const entry of batch) {
        if (wanted === undefined || entry.id === wanted) {
          path.push(entry);
          if (isEnough(entry) || entry.parentId === null) return path.toReversed();
          wanted = entry.parentId;
          beforeGap = undefined;
        } else if (path.length > 0 && last !== undefined && entry.seq < last - 1) {
          beforeGap ??= entry;
        }
        last = entry.seq;
      }
    }
    if (path.length === 0 && at !== undefined) {
      throw new BowlineError("not_found", `The session has no entry ${JSON.stringify(at)}.`);
    }
    if (beforeGap === undefined) return path.toReversed();
    wanted = beforeGap.id;
    from = beforeGap.seq;
  }
}
