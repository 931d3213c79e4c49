/** Creates a session with its first entries in one transaction. */
import { toJson, summaryOf, type AnyEntry, type SessionHeader } from "@bowline/core/session";
import { naming, type StoreContext } from "./context.ts";
import { toColumn, toSearchable } from "./rows/column-text.ts";
import { encodeBatch, insertBlobs, insertEntries, missingBlobs } from "./rows/insert-entries.ts";

export interface NewSessionRow {
  readonly number: number;
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
  readonly holder: string | null;
}

/** Entries per statement. */
const CHUNK = 1000;

/**
 * Resolves with whether the session was created, false if its id exists. Throws `invalid_argument`
 * if an entry is not JSON.
 */
export async function createSession(
  context: StoreContext,
  { number, header, entries, holder }: NewSessionRow,
): Promise<boolean> {
  const { database, schema } = context;
  const values = [
    number,
    toColumn(header.id),
    toJson(header),
    toSearchable(header.metadata ?? {}),
    summaryOf(header).updatedAt,
    holder,
  ];
  const copies = copiesIn(header, entries);
  const batches = Array.from({ length: Math.ceil(entries.length / CHUNK) }, (_, at) =>
    encodeBatch(entries.slice(at * CHUNK, (at + 1) * CHUNK), Math.max(0, copies - at * CHUNK)),
  );
  return database.transaction(naming("Creating", header.id), async (run) => {
    const created = await run(
      `insert into ${schema}.sessions (number, id, header, metadata, updated_at, holder)
      values ($1, $2, $3, $4, $5, $6) on conflict (id) do nothing returning number`,
      values,
    );
    // It is of an earlier try of this transaction, whose answer was lost.
    if (created.length === 0) {
      const [row] = await run(`select number from ${schema}.sessions where id = $1`, [values[1]]);
      return Number(row?.number) === number;
    }
    for (const batch of batches) {
      const blobs = batch.rows.flatMap((row) => row.blobs);
      if (blobs.length > 0)
        await insertBlobs(run, schema, number, await missingBlobs(run, schema, number, blobs));
      await insertEntries(run, context, { number, epoch: undefined }, batch);
    }
    return true;
  });
}

/** Returns the number of entries that a fork has from its original session. */
function copiesIn({ origin }: SessionHeader, entries: readonly AnyEntry[]): number {
  return origin === undefined ? 0 : entries.findIndex(({ id }) => id === origin.entryId) + 1;
}
