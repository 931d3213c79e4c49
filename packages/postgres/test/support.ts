/** What the tests of the store share: a server, stores, entries. */
import { after } from "node:test";
import type { AnyEntry, ReadOptions, Store } from "@bowline/core/session";
import {
  postgresIsMissing,
  startPostgres,
  type PostgresServer,
} from "../../../test/support/postgres.ts";
import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "../src/index.ts";

export interface Rig {
  readonly server: PostgresServer;
  /** The connection string of a database for this file. */
  readonly url: string;
  /** Opens a store on the database, which is closed after the tests. */
  open(options?: PostgresStoreOptions): PostgresStore;
}

/** Why the tests are skipped, or false. */
export const skip: string | false = postgresIsMissing();

/**
 * Starts a server for the tests of a file, and ends it after them. Where PostgreSQL is missing, the
 * tests must be skipped.
 */
export async function startRig(options?: Parameters<typeof startPostgres>[0]): Promise<Rig> {
  if (skip !== false) return undefined as unknown as Rig;
  const server = await startPostgres(options);
  const stores: PostgresStore[] = [];
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  });
  const url = await server.createDatabase();
  return {
    server,
    url,
    open(more = {}) {
      const place = (more.config ?? more.pool) ? {} : { connectionString: url };
      const store = createPostgresStore({ ...place, ...more });
      stores.push(store);
      return store;
    },
  };
}

/** An entry of a type that no version knows. Its id is `e<seq>`, unless `more` has another. */
export function entry(seq: number, more: object = {}): AnyEntry {
  const parentId = seq === 0 ? null : `e${seq - 1}`;
  return { seq, id: `e${seq}`, parentId, timestamp: seq, type: "x", ...more };
}

export function message(seq: number, content: unknown, role = "user"): AnyEntry {
  return entry(seq, { type: "message", message: { role, content, timestamp: 1 } });
}

export async function readAll(
  store: Store,
  id: string,
  options?: ReadOptions,
): Promise<AnyEntry[]> {
  const all: AnyEntry[] = [];
  for await (const batch of store.read(id, options)) all.push(...batch);
  return all;
}

/** Resolves with the error of work that must fail. */
export async function errorOf(
  work: Promise<unknown>,
): Promise<Error & { code?: string; retryable?: boolean }> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error("It did not fail.");
}
