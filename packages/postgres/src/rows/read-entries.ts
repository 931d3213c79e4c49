/** Reads entries in batches of bounded size, with their files and large values. */
import { createHash } from "node:crypto";
import {
  putBackFiles,
  sessionNotFound,
  storedFilesIn,
  type AnyEntry,
  type ReadOptions,
} from "@bowline/core/session";
import { textOrNull, type Row, type Run } from "../sql/database.ts";
import { digestsIn, restoreText } from "./large-values.ts";

const BATCH = 1000;
/** Bytes of a batch, unless its first entry is larger. */
const BATCH_BYTES = 1024 * 1024;
/** The largest value of an `integer` column. */
const LARGEST = 2 ** 31 - 1;

/** The session that is read, and what runs the statements. */
export interface Source {
  readonly run: Run;
  readonly schema: string;
  readonly id: string;
  readonly number: number;
}

/** Yields the entries before the `seq` `end`. */
export async function* readEntries(
  source: Source,
  end: number,
  { from, reverse = false, files = true, onDamage }: ReadOptions = {},
): AsyncGenerator<readonly AnyEntry[]> {
  const step = reverse ? -1 : 1;
  let next = reverse ? clamp(from ?? LARGEST, -1, end - 1) : clamp(from ?? 0, 0, end);
  while (reverse ? next >= 0 : next < end) {
    const rows = await nextRows(source, { next, end, reverse });
    const batch: AnyEntry[] = [];
    for (const row of rows) {
      const seq = Number(row.seq);
      if (seq !== next) onDamage?.(missing(reverse ? [seq + 1, next] : [next, seq - 1]));
      next = seq + step;
      const { entry, hasFiles } = await restore(source, row, files, onDamage);
      if (entry === undefined) continue;
      // An entry with files is a batch of its own, so that not all of them are held at once.
      if (hasFiles) {
        if (batch.length > 0) yield batch.splice(0);
        yield [entry];
      } else batch.push(entry);
    }
    if (batch.length > 0) yield batch;
    if (rows.length > 0) continue;
    await checkSession(source);
    onDamage?.(missing(reverse ? [0, next] : [next, end - 1]));
    return;
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(Math.ceil(value), least), most);
}

function missing([first, last]: readonly [number, number]): { readonly message: string } {
  const what = first === last ? `The entry ${first} is` : `The entries ${first} to ${last} are`;
  return { message: `${what} missing in the database.` };
}

interface Wanted {
  readonly next: number;
  readonly end: number;
  readonly reverse: boolean;
}

async function nextRows(
  { run, schema, number }: Source,
  { next, end, reverse }: Wanted,
): Promise<readonly Row[]> {
  const order = reverse ? "desc" : "asc";
  const place = reverse ? "seq <= $2" : "seq >= $2 and seq < $3";
  return run(
    `select seq, body, parts from (
      select *, sum(octet_length(body)) over (order by seq ${order}) - octet_length(body) as before
      from (
        select seq, body, parts from ${schema}.entries
        where session = $1 and ${place} order by seq ${order} limit ${BATCH}
      ) as page
    ) as counted where before < ${BATCH_BYTES} order by seq ${order}`,
    reverse ? [number, next] : [number, next, end],
  );
}

/** Rejects with `not_found` if the session was deleted. */
async function checkSession({ run, schema, id, number }: Source): Promise<void> {
  const rows = await run(`select 1 from ${schema}.sessions where number = $1`, [number]);
  if (rows.length === 0) throw sessionNotFound(id);
}

interface Restored {
  /** Undefined for a damaged entry. */
  readonly entry: AnyEntry | undefined;
  readonly hasFiles: boolean;
}

/** Puts an entry together again. */
export async function restore(
  source: Source,
  row: Row,
  files: boolean,
  onDamage: ReadOptions["onDamage"],
): Promise<Restored> {
  const [body, parts] = [String(row.body), textOrNull(row.parts)];
  const values = parts === null ? new Map() : await load(source, digestsIn(parts));
  const text = restoreText({ body, parts }, (digest) => values.get(digest)?.toString());
  if (text === undefined) {
    onDamage?.({
      message: `A value of entry ${String(row.seq)} is missing or damaged in the database. The entry is left out.`,
    });
    return { entry: undefined, hasFiles: false };
  }
  const entry = JSON.parse(text) as AnyEntry;
  const named = files ? storedFilesIn(entry).map(({ storedFile }) => storedFile) : [];
  if (named.length === 0) return { entry, hasFiles: false };
  const found = await load(source, named);
  for (const name of new Set(named))
    if (!found.has(name))
      onDamage?.({
        message: `The file ${name} is missing or damaged in the database. A note replaces it in the message.`,
      });
  const whole = putBackFiles(entry, ({ storedFile }) => found.get(storedFile)?.toString("base64"));
  return { entry: whole, hasFiles: true };
}

/** Loads blobs by their digests. Leaves out those that are missing or damaged. */
async function load(
  { run, schema, number }: Source,
  digests: readonly string[],
): Promise<Map<string, Buffer>> {
  const names = [...new Set(digests)].filter((name) => /^[0-9a-f]{64}$/.test(name));
  const rows = await run(
    `select bytes from ${schema}.blobs
    where session = $1 and digest = any(select decode(hex, 'hex') from unnest($2::text[]) as given (hex))`,
    [number, names],
  );
  const blobs = rows.map(({ bytes }) => bytes as Buffer);
  return new Map(
    blobs.map((bytes) => [createHash("sha256").update(bytes).digest("hex"), bytes] as const),
  );
}
