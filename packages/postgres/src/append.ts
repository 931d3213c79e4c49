/** Appends for a writer with an epoch, and finds out why an append was refused. */
import { BowlineError } from "@bowline/core";
import { sessionNotFound } from "@bowline/core/session";
import { naming, selectSession, toSessionRow, type StoreContext } from "./context.ts";
import { sessionFenced } from "./errors.ts";
import {
  insertBlobs,
  insertEntries,
  missingBlobs,
  type Batch,
  type Place,
} from "./rows/insert-entries.ts";
import type { Blob } from "./rows/large-values.ts";
import type { Run } from "./sql/database.ts";

export interface Target extends Place {
  readonly id: string;
  readonly epoch: number;
}

/**
 * Appends a batch. Succeeds without a change if the session has the same entries at the same place,
 * as after a lost answer to a commit. Rejects with `session_locked` for an old epoch and for entries
 * that do not continue the session, and with `not_found` if it was deleted.
 */
export async function append(context: StoreContext, target: Target, batch: Batch): Promise<void> {
  const { database, schema } = context;
  const doing = naming("Writing to", target.id);
  const blobs = batch.rows.flatMap((row) => row.blobs);
  const isDone =
    blobs.length === 0 && batch.runs.length === 0
      ? await insertEntries((...query) => database.query(doing, ...query), context, target, batch)
      : await database.transaction(doing, (run) => appendAll(context, run, target, batch, blobs));
  if (isDone) return;
  const rows = await database.query(doing, selectSession(schema, "number"), [target.number]);
  const session = toSessionRow(rows[0]);
  if (session === undefined) throw sessionNotFound(target.id);
  if (session.epoch !== target.epoch) throw sessionFenced(target.id, target.epoch, session.epoch);
  if (await isStored(context, target, batch)) return;
  throw new BowlineError(
    "session_locked",
    `Session ${JSON.stringify(target.id)} has got entries from elsewhere: its next entry has seq ${session.nextSeq}, not ${batch.seq}. Nothing was written. Open the session again.`,
    { retryable: true },
  );
}

/** The row lock comes first, so that a refused writer adds no blob. */
async function appendAll(
  context: StoreContext,
  run: Run,
  target: Target,
  batch: Batch,
  blobs: readonly Blob[],
): Promise<boolean> {
  const { schema } = context;
  const [row] = await run(selectSession(schema, "number", "for update"), [target.number]);
  if (toSessionRow(row)?.epoch !== target.epoch) return false;
  if (blobs.length > 0) {
    const missing = await missingBlobs(run, schema, target.number, blobs);
    await insertBlobs(run, schema, target.number, missing);
  }
  return insertEntries(run, context, target, batch);
}

async function isStored(
  { database, schema }: StoreContext,
  { id, number }: Target,
  { seq, rows }: Batch,
): Promise<boolean> {
  const stored = await database.query(
    naming("Reading", id),
    `select key, body, parts from ${schema}.entries
    where session = $1 and seq >= $2 and seq < $3 order by seq`,
    [number, seq, seq + rows.length],
  );
  return (
    stored.length === rows.length &&
    rows.every(({ key, body, parts }, index) => {
      const other = stored[index];
      return other?.key === key && other.body === body && other.parts === parts;
    })
  );
}
