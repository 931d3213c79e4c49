/** Writes entries and what they change in their session, under the session's row lock. */
import type { AnyEntry } from "@bowline/core/session";
import type { Run } from "../sql/database.ts";
import { toColumn } from "./column-text.ts";
import {
  encodeEntry,
  joinChanges,
  summaryChange,
  summaryValues,
  type EntryRow,
  type SummaryChange,
} from "./encode-entry.ts";
import type { Blob } from "./large-values.ts";
import { applyRunChanges, runChanges, type RunChange } from "./run-changes.ts";

/** Entries that are ready to be written. */
export interface Batch {
  readonly seq: number;
  readonly rows: readonly EntryRow[];
  readonly lastId: string;
  readonly change: SummaryChange;
  /** Changes of runs and approvals. If there are any, the batch needs a transaction. */
  readonly runs: readonly RunChange[];
}

/**
 * Encodes entries, of which there is at least one. The first `copies` are those of another session,
 * whose runs are not runs of this one. Throws `invalid_argument` if an entry is not JSON.
 */
export function encodeBatch(entries: readonly AnyEntry[], copies = 0): Batch {
  const last = entries.at(-1) as AnyEntry;
  return {
    seq: last.seq - entries.length + 1,
    rows: entries.map(encodeEntry),
    lastId: toColumn(last.id),
    change: summaryChange(entries),
    runs: runChanges(entries.slice(copies)),
  };
}

/** Joins batches that follow each other, of which there is at least one. */
export function joinBatches([first, ...rest]: readonly Batch[]): Batch {
  return rest.reduce(
    (one, next) => ({
      seq: one.seq,
      rows: one.rows.concat(next.rows),
      lastId: next.lastId,
      change: joinChanges(one.change, next.change),
      runs: one.runs.concat(next.runs),
    }),
    first as Batch,
  );
}

/** The session and where its entries go. The row must have this epoch, unless it is undefined. */
export interface Place {
  readonly number: number;
  readonly epoch: number | undefined;
}

/**
 * Inserts the entries if the session's row has the epoch, and the `seq` of the first entry is its
 * next. Resolves with false, and changes nothing, if it has not.
 */
export async function insertEntries(
  run: Run,
  { schema, channel }: { readonly schema: string; readonly channel: string },
  { number, epoch }: Place,
  { seq, rows, lastId, change, runs }: Batch,
): Promise<boolean> {
  const written = await run(insertText(schema), [
    number,
    epoch ?? null,
    seq,
    rows.map(({ key }) => key),
    rows.map(({ body }) => body),
    rows.map(({ parts }) => parts),
    rows.map(({ text }) => text),
    lastId,
    channel,
    ...summaryValues(change),
  ]);
  if (written.length === 0) return false;
  await applyRunChanges(run, schema, number, runs);
  return true;
}

const insertText = (schema: string): string => `
with written as (
  update ${schema}.sessions set
    next_seq = next_seq + cardinality($4::text[]),
    last_id = $8,
    title = coalesce($10::text, title, $12::text),
    title_lower = coalesce($11::text, title_lower, $13::text),
    agent = case when $14::text is null then agent else coalesce($15::text, agent) end,
    model = coalesce($14::text, model),
    updated_at = greatest(updated_at, $16::float8),
    message_count = message_count + $17::int
  where number = $1 and next_seq = $3 and ($2::bigint is null or epoch = $2)
  returning number
), inserted as (
  insert into ${schema}.entries (session, seq, key, body, parts, words)
  select number, $3::int + at - 1, key, body, parts, to_tsvector('simple', words)
  from written, unnest($4::text[], $5::text[], $6::text[], $7::text[])
    with ordinality as given (key, body, parts, words, at)
)
select pg_notify($9, number::text) from written`;

/** Resolves with the blobs that the session does not have. */
export async function missingBlobs(
  run: Run,
  schema: string,
  number: number,
  blobs: readonly Blob[],
): Promise<Blob[]> {
  const byDigest = new Map(blobs.map((blob) => [blob.digest.toString("hex"), blob]));
  const rows = await run(
    `select encode(digest, 'hex') as name from ${schema}.blobs where session = $1 and digest = any(select decode(hex, 'hex') from unnest($2::text[]) as given (hex))`,
    [number, [...byDigest.keys()]],
  );
  for (const { name } of rows) byDigest.delete(String(name));
  return [...byDigest.values()];
}

/** Inserts blobs. A session has each of them once. */
export async function insertBlobs(
  run: Run,
  schema: string,
  number: number,
  blobs: readonly Blob[],
): Promise<void> {
  for (const { digest, bytes } of blobs)
    await run(
      `insert into ${schema}.blobs (session, digest, bytes) values ($1, $2, $3) on conflict do nothing`,
      [number, digest, bytes],
    );
}
