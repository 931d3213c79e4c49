/** Makes the pool of a store from its options, with `pg`. */
import { BowlineError } from "@bowline/core";
import { Client, Pool } from "pg";
import type { PostgresPool, PostgresStoreOptions } from "../options.ts";

export interface OpenPool {
  readonly pool: PostgresPool;
  /** Names the server in errors. */
  readonly server: string;
  /** Texts that errors must not show. */
  readonly secrets: readonly string[];
  /** Closes the connections. Does nothing for a pool that the caller passed. */
  end(): Promise<void>;
}

const SIZE = 10;

/** Opens no connection. Throws `invalid_argument` for an invalid connection string. */
export function createPool(options: PostgresStoreOptions, timeoutMs: number): OpenPool {
  const { connectionString, config, pool: given } = options;
  if (given !== undefined)
    return { pool: given, server: "PostgreSQL", secrets: [], end: async () => {} };
  const place = connectionString === undefined ? defined(config ?? {}) : { connectionString };
  const { host, port, database, user, password } = placeOf(place);
  const pool = new Pool({
    ...place,
    max: config?.max ?? SIZE,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    // A process may end while connections are idle.
    allowExitOnIdle: true,
    application_name: "bowline",
  });
  // An idle connection was lost. The pool has dropped it; without a listener the process would end.
  pool.on("error", () => {});
  // The server may end a connection in the moment in which the pool hands it out, and nobody listens to
  // it yet. Its next statement fails.
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    pool,
    server: `PostgreSQL at ${host}:${port}, database ${database}, user ${user}`,
    secrets:
      typeof password === "string" && password !== ""
        ? [password, encodeURIComponent(password)]
        : [],
    end: () => keepingAlive(pool.end()),
  };
}

/** Idle connections keep no process running, which would then end before they are closed. */
async function keepingAlive(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 1000);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
}

/** Returns what `pg` reads from a connection string, or from the environment. */
function placeOf(place: object): Client {
  try {
    return new Client(place);
  } catch {
    // Without its cause, which quotes the string and its password.
    throw new BowlineError(
      "invalid_argument",
      "The connection string is invalid. It must be postgresql://user:password@host:port/database, with % before the codes of other characters.",
    );
  }
}

function defined(config: object): object {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}
