/** `bowline sessions import`: copies sessions from files into PostgreSQL. */
import type { AnyEntry, SessionHeader, SessionSummary, Store } from "@bowline/core/session";
import { isBowlineError } from "@bowline/core";
import type * as postgres from "@bowline/postgres";
import type { PostgresStore } from "@bowline/postgres";
import { CommandError, UsageError } from "../command-error.ts";
import { oneLine, printableJson } from "../terminal.ts";
import { exitCode } from "./exit.ts";
import { allSessions } from "./find-session.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import { StatusLine } from "./status-line.ts";

/** The result for one session. */
interface Imported {
  readonly id: string;
  /** `copied`: it was not there. `extended`: it has new entries. `present`: it had all of them. */
  readonly state: "copied" | "extended" | "present" | "failed";
  /** The number of entries that were copied. */
  readonly entries: number;
  readonly error?: string;
}

/** A person waits for the error of a server that is away. */
const RETRY_MS = 2000;
/** Entries per append. */
const CHUNK = 500;

/** Returns the exit code. A session that cannot be copied does not stop the others. */
export async function importSessions(
  files: Store,
  options: SessionsOptions,
  host: NodeJS.Process,
): Promise<number> {
  const { dryRun, json } = options;
  const database = await openDatabase(options, host);
  const progress = new StatusLine(host.stderr, host.env);
  const results: Imported[] = [];
  try {
    progress.show("reading the sessions …");
    const sessions = await allSessions(files);
    progress.show("connecting to the database …");
    const isEmpty = !(await database.hasTables());
    if ((await database.pendingMigrations()) > 0) {
      if (!dryRun) await database.migrate();
      else if (!isEmpty)
        throw new CommandError(
          "The tables of the database are of an earlier version, which a dry run cannot read. Without --dry-run, the import upgrades them first.",
        );
    }
    // Without tables, nothing is there.
    const target = isEmpty && dryRun ? undefined : database;
    for (const [index, session] of sessions.entries()) {
      const { id, title = "" } = session;
      progress.show(`${index + 1} of ${sessions.length}: ${title === "" ? id : title}`);
      const result = await importOne(files, target, session, dryRun);
      results.push(result);
      if (!json && result.error === undefined) continue;
      progress.clear();
      if (json) host.stdout.write(`${printableJson(result)}\n`);
      else host.stderr.write(`bowline: ${oneLine(`${id}: ${result.error ?? ""}`, 1000)}\n`);
    }
  } finally {
    progress.clear();
    await database.close();
  }
  host.stderr.write(`bowline: ${summaryOf(results, dryRun)}\n`);
  return results.some(({ state }) => state === "failed") ? exitCode.failed : exitCode.done;
}

/** Opens the database. Throws `CommandError` if its package is not installed. */
async function openDatabase(
  { to, schema, dryRun }: SessionsOptions,
  { env }: NodeJS.Process,
): Promise<PostgresStore> {
  const connectionString = to ?? env.BOWLINE_DATABASE_URL ?? "";
  if (connectionString === "")
    throw new UsageError(
      "Into which database? Set BOWLINE_DATABASE_URL to postgresql://user:password@host/database, or pass --to.",
    );
  const { createPostgresStore } = await loadPackage();
  return createPostgresStore({
    connectionString,
    ...(schema !== undefined && { schema }),
    migrations: dryRun ? "manual" : "automatic",
    retryMs: RETRY_MS,
  });
}

async function loadPackage(): Promise<typeof postgres> {
  try {
    return await import("@bowline/postgres");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandError(
      "The package for PostgreSQL is not installed. Install it beside bowline: npm install @bowline/postgres (with -g if bowline was installed with -g).",
      { cause: error },
    );
  }
}

async function importOne(
  files: Store,
  target: Store | undefined,
  { id, entryCount }: SessionSummary,
  dryRun: boolean,
): Promise<Imported> {
  try {
    const stored = target && (await headOf(target, id));
    if (stored === undefined || target === undefined) {
      const entries = dryRun ? entryCount : await create(files, target as Store, id);
      return { id, state: "copied", entries };
    }
    const entries = await extend(files, target, id, stored, dryRun);
    return { id, state: entries === 0 ? "present" : "extended", entries };
  } catch (error) {
    return {
      id,
      state: "failed",
      entries: 0,
      error: error instanceof Error ? error.message : String(error),
    };
  }
}

/** The end of a session that is stored. */
interface Head {
  readonly header: SessionHeader;
  readonly last: AnyEntry | undefined;
}

/** Returns undefined for a session that is not there. */
async function headOf(store: Store, id: string): Promise<Head | undefined> {
  try {
    const header = await store.load(id);
    for await (const [last] of store.read(id, { reverse: true, files: false }))
      return { header, last };
    return { header, last: undefined };
  } catch (error) {
    if (isBowlineError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Copies a session that is not there, in one transaction. Returns the number of entries. */
async function create(files: Store, target: Store, id: string): Promise<number> {
  const entries: AnyEntry[] = [];
  for await (const batch of whole(files, id, 0)) entries.push(...batch);
  const writer = await target.create(await files.load(id), entries);
  await writer.close();
  return entries.length;
}

/** Copies what a session has more than the stored one. Returns the number of entries. */
async function extend(
  files: Store,
  target: Store,
  id: string,
  { header, last }: Head,
  dryRun: boolean,
): Promise<number> {
  const { createdAt } = await files.load(id);
  const from = last?.seq ?? 0;
  const pending: AnyEntry[] = [];
  let isSame = createdAt === header.createdAt;
  for await (const batch of whole(files, id, from)) {
    for (const entry of batch) {
      if (entry.seq === last?.seq) isSame &&= entry.id === last.id;
      else pending.push(entry);
    }
  }
  const own = await headOf(files, id);
  // The stored session may be ahead: it was continued there.
  if (last !== undefined && (own?.last?.seq ?? -1) < last.seq)
    isSame &&= own?.last === undefined || (await hasEntry(target, id, own.last));
  if (!isSame)
    throw new CommandError(
      "the database has another session with this id, or it was continued in both places. It was not changed.",
    );
  if (dryRun || pending.length === 0) return pending.length;
  const writer = await target.open(id);
  try {
    for (let at = 0; at < pending.length; at += CHUNK)
      await writer.append(pending.slice(at, at + CHUNK));
  } finally {
    await writer.close();
  }
  return pending.length;
}

async function hasEntry(
  store: Store,
  id: string,
  { seq, id: entryId }: AnyEntry,
): Promise<boolean> {
  for await (const [first] of store.read(id, { from: seq, files: false }))
    return first?.id === entryId;
  return false;
}

/** Yields the entries of a session. Rejects if one is damaged, since the copy would have a gap. */
async function* whole(files: Store, id: string, from: number): AsyncGenerator<readonly AnyEntry[]> {
  const damage: string[] = [];
  yield* files.read(id, { from, onDamage: ({ message }) => void damage.push(message) });
  if (damage.length > 0) throw new CommandError(`it is damaged, and was not copied: ${damage[0]}`);
}

function summaryOf(results: readonly Imported[], dryRun: boolean): string {
  const count = (state: Imported["state"]): number =>
    results.filter((result) => result.state === state).length;
  const entries = results.reduce((sum, result) => sum + result.entries, 0);
  const [copied, extended, present, failed] = [
    count("copied"),
    count("extended"),
    count("present"),
    count("failed"),
  ];
  const verb = dryRun ? "would be copied" : "copied";
  const more = [
    extended > 0 ? `${extended} extended` : "",
    present > 0 ? `${present} there already` : "",
    failed > 0 ? `${failed} failed` : "",
  ].filter(Boolean);
  const parts = [`${copied} ${copied === 1 ? "session" : "sessions"} ${verb}`, ...more];
  return `${parts.join(", ")}; ${entries} ${entries === 1 ? "entry" : "entries"}`;
}
