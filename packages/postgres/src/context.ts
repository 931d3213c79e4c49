/** What the parts of a store share. */
import type { Clock } from "@bowline/core";
import type { Source } from "./rows/read-entries.ts";
import { textOrNull, type Database, type Row, type Run } from "./sql/database.ts";

export interface StoreContext {
  readonly database: Database;
  readonly schema: string;
  /** The channel of notifications. */
  readonly channel: string;
  readonly clock: Clock;
  /** Resolves when the tables are there. */
  ready(): Promise<void>;
}

/** Names a session in the message of an error. */
export function naming(doing: string, id: string): string {
  return `${doing} session ${JSON.stringify(id)}`;
}

export interface SessionRow {
  readonly number: number;
  readonly epoch: number;
  readonly nextSeq: number;
  readonly header: string;
  readonly lastId: string | null;
  readonly holder: string | null;
}

const columns = "number, epoch, next_seq, header, last_id, holder";

/** Returns the statement that selects a session by a column. `$1` is its value. */
export function selectSession(schema: string, by: "id" | "number", lock = ""): string {
  return `select ${columns} from ${schema}.sessions where ${by} = $1 ${lock}`;
}

/**
 * Takes the next epoch, above those of deleted sessions: an attempt at a run of a deleted session must
 * not write to a new session with the same id. `$1` is the session's number, `$2` the new holder.
 * Returns the session with its last entry, which is null if it was written while this statement
 * waited for the row.
 */
export function takeEpoch(schema: string): string {
  const highest = `(select highest from ${schema}.deleted_epochs)`;
  return `update ${schema}.sessions set epoch = greatest(epoch, ${highest}) + 1, holder = $2
    where number = $1 returning ${columns}, ${lastOf(schema, "body")}, ${lastOf(schema, "parts")}`;
}

function lastOf(schema: string, column: string): string {
  return `(select ${column} from ${schema}.entries where session = number and seq = next_seq - 1)`;
}

export function toSessionRow(row: Row | undefined): SessionRow | undefined {
  if (row === undefined) return undefined;
  return {
    number: Number(row.number),
    epoch: Number(row.epoch),
    nextSeq: Number(row.next_seq),
    header: String(row.header),
    lastId: textOrNull(row.last_id),
    holder: textOrNull(row.holder),
  };
}

/** Tells followers of a session that its row has changed, when the transaction commits. */
export async function notify(run: Run, channel: string, number: number): Promise<void> {
  await run("select pg_notify($1, $2)", [channel, String(number)]);
}

/** Returns what reads a session outside of a transaction. */
export function sourceOf(
  { database, schema }: StoreContext,
  { id, number }: { readonly id: string; readonly number: number },
): Source {
  const run: Run = (text, values) => database.query(naming("Reading", id), text, values);
  return { run, schema, id, number };
}
