/** Brings the tables to the version of this code. */
import { BowlineError } from "@bowline/core";
import type { Database, Run } from "../sql/database.ts";
import { migrations, type Migration } from "./migrations.ts";

const table = "bowline_version";

/**
 * Creates or upgrades the tables in one transaction, under a lock that concurrent callers wait for.
 * Resolves with the number of versions applied. Rejects with `storage_failed` when the tables are
 * of a newer version, or when the database is not in UTF-8.
 */
export function migrate(
  database: Database,
  schema: string,
  versions: readonly Migration[] = migrations,
): Promise<number> {
  return database.transaction(`Migrating the schema ${schema}`, async (run) => {
    await checkEncoding(run);
    await run("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`bowline ${schema}`]);
    // Asked first, since an existing schema needs no right to create one.
    const [found] = await run("select 1 from pg_namespace where nspname = $1", [schema]);
    if (found === undefined) await run(`create schema ${schema}`);
    await run(`set local search_path to ${schema}`);
    const before = await versionIn(run, schema);
    checkVersion(before, versions.length, schema);
    if (before === 0) {
      await run(`create table ${table} (version integer not null)`);
      await run(`insert into ${table} values (0)`);
    }
    for (const version of versions.slice(before)) {
      if (typeof version === "string") await run(version);
      else {
        await run(version.sql);
        await version.fill(run, schema);
      }
    }
    if (before < versions.length) await run(`update ${table} set version = $1`, [versions.length]);
    return versions.length - before;
  });
}

/**
 * Resolves with the version of the tables, 0 if there are none. Rejects with `storage_failed` if it
 * is newer than this code.
 */
export async function currentVersion(database: Database, schema: string): Promise<number> {
  const doing = `Reading the version of the schema ${schema}`;
  const version = await database.transaction(doing, (run) => versionIn(run, schema));
  checkVersion(version, migrations.length, schema);
  return version;
}

/** Rejects with `storage_failed` unless the tables are of this code's version. */
export async function checkMigrated(database: Database, schema: string): Promise<void> {
  const version = await currentVersion(database, schema);
  if (version === migrations.length) return;
  const state = version === 0 ? "has no tables" : `is of version ${version}`;
  throw new BowlineError(
    "storage_failed",
    `The schema ${schema} ${state}, and this code needs version ${migrations.length}. Call migrate() of the store, with a user that may create tables.`,
  );
}

async function versionIn(run: Run, schema: string): Promise<number> {
  const [{ is_there: isThere } = {}] = await run("select to_regclass($1) is not null as is_there", [
    `${schema}.${table}`,
  ]);
  if (isThere !== true) return 0;
  const [row] = await run(`select version from ${schema}.${table}`);
  return Number(row?.version ?? 0);
}

function checkVersion(found: number, known: number, schema: string): void {
  if (found <= known) return;
  throw new BowlineError(
    "storage_failed",
    `The schema ${schema} is of version ${found}, which is newer than this code: it knows up to version ${known}. Upgrade @bowline/postgres, or use another schema.`,
  );
}

async function checkEncoding(run: Run): Promise<void> {
  const [{ server_encoding: encoding } = {}] = await run("show server_encoding");
  if (encoding === "UTF8") return;
  throw new BowlineError(
    "storage_failed",
    `The database has the encoding ${String(encoding)}. Sessions need a database with the encoding UTF8.`,
  );
}
