/** Appends entries whose keys the session does not have. */
import { isKnownEntry, type AnyEntry } from "@bowline/core/session";
import { BowlineError } from "@bowline/core";
import type { SessionRow, StoreContext } from "../context.ts";
import { invalid } from "../options.ts";
import { fromColumn, toKey } from "../rows/column-text.ts";
import { encodeBatch, insertBlobs, insertEntries, missingBlobs } from "../rows/insert-entries.ts";
import { restore, type Source } from "../rows/read-entries.ts";
import { markRead } from "../rows/unread.ts";
import type { Run } from "../sql/database.ts";
import type { DurableItem } from "./contract.ts";

export interface KeyedAppend {
  readonly id: string;
  readonly session: SessionRow;
  readonly items: readonly DurableItem[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The transaction must have the session's row lock. Returns all entries, as they stand. */
export async function appendByKey(
  context: StoreContext,
  run: Run,
  { id, session, items, now }: KeyedAppend,
): Promise<readonly AnyEntry[]> {
  const { schema } = context;
  const { number, nextSeq, lastId } = session;
  const keys = items.map(({ key }) => toKey(key));
  if (new Set(keys).size < keys.length)
    throw invalid("Two entries of one append must not have the same key.");
  const stored = await storedEntries({ run, schema, id, number }, keys);
  const fresh: AnyEntry[] = [];
  let parent = lastId === null ? null : fromColumn(lastId);
  for (const [index, { key, body, timestamp = now, parentId = parent }] of items.entries()) {
    if (stored.has(keys[index] as string)) continue;
    const base = { seq: nextSeq + fresh.length, id: key, parentId, timestamp };
    const entry: AnyEntry = { ...body, ...base };
    if (!isKnownEntry(entry))
      throw invalid(`The entry ${JSON.stringify(key)} has an unknown type.`);
    parent = key;
    fresh.push(entry);
  }
  if (fresh.length > 0) {
    const batch = encodeBatch(fresh);
    const blobs = batch.rows.flatMap((row) => row.blobs);
    if (blobs.length > 0)
      await insertBlobs(run, schema, number, await missingBlobs(run, schema, number, blobs));
    const isDone = await insertEntries(run, context, { number, epoch: undefined }, batch);
    if (!isDone)
      throw new BowlineError("internal_error", "The row changed under its lock. Report this.");
    const isFresh = new Set(fresh.map((entry) => entry.id));
    const read = items.flatMap((item) =>
      item.messageId !== undefined && isFresh.has(item.key) ? [item.messageId] : [],
    );
    if (read.length > 0) await markRead(run, schema, number, read);
  }
  const own = new Map(fresh.map((entry) => [toKey(entry.id), entry] as const));
  return keys.map((key) => (own.get(key) ?? stored.get(key)) as AnyEntry);
}

/** Returns the entries that have one of the keys, by key. */
async function storedEntries(
  source: Source,
  keys: readonly string[],
): Promise<Map<string, AnyEntry>> {
  const rows = await source.run(
    `select key, seq, body, parts from ${source.schema}.entries
    where session = $1 and key = any($2::text[])`,
    [source.number, keys],
  );
  const stored = new Map<string, AnyEntry>();
  for (const row of rows) {
    const { entry } = await restore(source, row, true, undefined);
    if (entry === undefined)
      throw new BowlineError(
        "storage_failed",
        `Entry ${String(row.seq)} of session ${JSON.stringify(source.id)} is damaged in the database.`,
      );
    stored.set(String(row.key), entry);
  }
  return stored;
}
