/** The options of the store, and the parts of `pg` that it needs from a pool. */
import { BowlineError, type Clock } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";

/** A pool of connections, such as `new Pool()` of `pg`. It must give at least two at a time. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
}

/** A connection of a pool. */
export interface PostgresClient {
  query(query: { text: string; values?: unknown[] }): Promise<{ readonly rows: unknown[] }>;
  /** Returns the connection to the pool, or closes it if there is an error. */
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  on(
    event: "notification",
    listener: (message: {
      readonly channel: string;
      readonly payload?: string | undefined;
    }) => void,
  ): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** Where the server is and how to sign in. What is left out comes from `PGHOST`, `PGUSER`, … */
export interface PostgresConfig {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  /** The password, or a function that returns one for each new connection. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  /** TLS. `true` checks the certificate against the system's authorities. Default false. */
  readonly ssl?: boolean | PostgresTls | undefined;
  /** The largest number of connections, at least 2. Default 10. */
  readonly max?: number | undefined;
}

export interface PostgresTls {
  /** The authority's certificate, PEM. */
  readonly ca?: string | undefined;
  /** The client's certificate and its key, PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name in the server's certificate, if it is not the host. */
  readonly servername?: string | undefined;
  /** False accepts any certificate, which does not protect against a stranger's server. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** Pass one of `connectionString`, `config` and `pool`, or none for the variables `PGHOST`, … */
export interface PostgresStoreOptions {
  /** `postgresql://user:password@host:port/database?sslmode=verify-full`. */
  readonly connectionString?: string | undefined;
  readonly config?: PostgresConfig | undefined;
  /** A pool of yours. The store keeps one of its connections, and does not end the pool. */
  readonly pool?: PostgresPool | undefined;
  /** The schema of the tables: small letters, digits and `_`. Default `bowline`. */
  readonly schema?: string | undefined;
  /**
   * `automatic` creates or upgrades the tables at the first use. `manual` needs a call of
   * `migrate()`, and fewer rights at all other times. Default `automatic`.
   */
  readonly migrations?: "automatic" | "manual" | undefined;
  /** How long a lost connection is retried before a call rejects, in milliseconds. Default 10,000. */
  readonly retryMs?: number | undefined;
  /** The time limit of a statement, and of waiting for a connection, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Interval at which followers look for new entries if the server's notifications do not arrive, in
   * milliseconds. Default 5,000.
   */
  readonly pollMs?: number | undefined;
  /** Sets the time of {@link Store.holder} and of entries without one. Default: the system's. */
  readonly clock?: Clock | undefined;
}

const storeNames: Readonly<Record<keyof PostgresStoreOptions, true>> = {
  connectionString: true,
  config: true,
  pool: true,
  schema: true,
  migrations: true,
  retryMs: true,
  timeoutMs: true,
  pollMs: true,
  clock: true,
};

const configNames: Readonly<Record<keyof PostgresConfig, true>> = {
  host: true,
  port: true,
  database: true,
  user: true,
  password: true,
  ssl: true,
  max: true,
};

/** Throws `invalid_argument` for options that cannot work. */
export function checkOptions(options: PostgresStoreOptions): void {
  checkNames(options, Object.keys(storeNames));
  checkNames(options.config ?? {}, Object.keys(configNames), "field of config:");
  const { schema, migrations, config } = options;
  const servers = (["connectionString", "config", "pool"] as const).filter(
    (name) => options[name] !== undefined,
  );
  if (servers.length > 1)
    throw invalid(
      `Pass only one of ${servers.join(" and ")}: each of them says where the server is.`,
    );
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,47}$/.test(schema))
    throw invalid(
      "The schema must be 1 to 48 small letters, digits and underscores, and not begin with a digit.",
    );
  if (migrations !== undefined && migrations !== "automatic" && migrations !== "manual")
    throw invalid('migrations must be "automatic" or "manual".');
  for (const name of ["retryMs", "timeoutMs", "pollMs"] as const) {
    const value = options[name];
    const least = name === "retryMs" ? 0 : 1;
    if (value !== undefined && !(Number.isFinite(value) && value >= least))
      throw invalid(`${name} must be a number of milliseconds of at least ${least}.`);
  }
  const max = config?.max ?? maxOf(options.pool);
  if (max !== undefined && !(Number.isInteger(max) && max >= 2))
    throw invalid(
      "The pool must have at least 2 connections: the store keeps one for locks and notifications.",
    );
}

/** The size of a pool of `pg`. Undefined for another pool. */
function maxOf(pool: PostgresPool | undefined): number | undefined {
  const { options } = (pool ?? {}) as { readonly options?: { readonly max?: unknown } };
  return typeof options?.max === "number" ? options.max : undefined;
}

export function invalid(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}
