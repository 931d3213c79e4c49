/**
 * The way through the tree: from an entry back to the root, in one pass over a log that is read
 * from its end.
 */
import { BowlineError } from "../errors.ts";
import type { AnyEntry } from "./entry.ts";
import type { ReadOptions } from "./store.ts";

/** Reads a session's entries, as {@link Store.read} does. */
export type ReadEntries = (options: ReadOptions) => AsyncIterable<readonly AnyEntry[]>;

/**
 * The entries that lead to `at` (default: the last), oldest first. Reading stops at the root, or at
 * the first entry for which `isEnough` is true, which is part of the path; it is asked about each,
 * newest first. `not_found` if there is no `at`.
 *
 * A parent stands before its child, so nothing is read twice. A parent that is nowhere was damaged:
 * the path then goes on with what stands before the first gap in `seq`, which is the parent's
 * parent unless someone rewound just there.
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
