/** Sessions in PostgreSQL. */
import { systemClock } from "@bowline/core";
import {
  checkSessionId,
  sessionNotFound,
  type AnyEntry,
  type FollowOptions,
  type ListOptions,
  type ReadOptions,
  type SessionHeader,
  type SessionHolder,
  type SessionPage,
  type SessionSummary,
  type SessionWriter,
  type Store,
} from "@bowline/core/session";
import { followEntries } from "./connection/follow-entries.ts";
import { OwnConnection } from "./connection/own-connection.ts";
import { SessionLocks } from "./connection/session-locks.ts";
import { Watchers } from "./connection/watchers.ts";
import {
  naming,
  selectSession,
  sourceOf,
  toSessionRow,
  type SessionRow,
  type StoreContext,
} from "./context.ts";
import {
  deleteMatching,
  deleteSession,
  type DeleteOptions,
  type DeleteResult,
} from "./delete-sessions.ts";
import type { DurableSessions } from "./durable/contract.ts";
import { DurableLog } from "./durable/durable-sessions.ts";
import { listSessions, readSummary } from "./list-sessions.ts";
import { createWriter, openWriter, type OpenWriterOptions } from "./open-writer.ts";
import { checkOptions, type PostgresStoreOptions } from "./options.ts";
import { toColumn } from "./rows/column-text.ts";
import { readEntries } from "./rows/read-entries.ts";
import { checkMigrated, currentVersion, migrate } from "./schema/migrate.ts";
import { migrations } from "./schema/migrations.ts";
import { readServerInfo, type ServerInfo } from "./server-info.ts";
import { createPool } from "./sql/create-pool.ts";
import { Database } from "./sql/database.ts";

/** A store of sessions in PostgreSQL. Several processes may use the same sessions. */
export interface PostgresStore extends Store {
  /**
   * Opens a session for writing, as {@link Store.open} does. With `takeOver`, its present writer is
   * refused from now on, and no lock is taken: for an engine that knows which of its processes runs.
   */
  open(id: string, options?: OpenWriterOptions): Promise<SessionWriter>;
  /**
   * Creates or upgrades the tables. Concurrent calls wait for each other. Rejects with
   * `storage_failed` if the tables are of a newer version, or if a right is missing.
   */
  migrate(): Promise<void>;
  /**
   * Resolves with the number of versions that `migrate` would apply: 0 if the tables are current.
   * Changes nothing. Rejects as `migrate` does for a newer version.
   */
  pendingMigrations(): Promise<number>;
  /** Reads the server's version and its connections. Needs no tables. */
  serverInfo(): Promise<ServerInfo>;
  /** Resolves with whether there are tables, of this or an earlier version. Changes nothing. */
  hasTables(): Promise<boolean>;
  /** Reads what `list` says of one session, without its entries. Rejects with `not_found`. */
  summary(id: string): Promise<SessionSummary>;
  /**
   * Lists the sessions whose messages contain a word that begins with each of these words, ignoring
   * case; latest first. Reads the first 65,536 characters of a message.
   */
  searchTexts(text: string, options?: Omit<ListOptions, "search">): Promise<SessionPage>;
  /**
   * Deletes all sessions whose metadata contains this, such as all of one user, with everything that
   * belongs to them. Their writers are refused from then on. A session whose deletion fails is in
   * `failed`, and the others are deleted.
   */
  deleteSessions(
    metadata: Readonly<Record<string, unknown>>,
    options?: DeleteOptions,
  ): Promise<DeleteResult>;
  /** Epochs, idempotent appends and an inbox, for durable engines. */
  readonly durable: DurableSessions;
  /**
   * Ends followers, releases the store's locks, and closes its connections. A pool that you passed
   * stays open.
   */
  close(): Promise<void>;
}

const DEFAULT_SCHEMA = "bowline";
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRY_MS = 10_000;
const DEFAULT_POLL_MS = 5000;

/**
 * Creates a store. Connects at the first use. Throws `invalid_argument` for options that cannot
 * work. Call `close` at the end.
 */
export function createPostgresStore(options: PostgresStoreOptions = {}): PostgresStore {
  checkOptions(options);
  return new Sessions(options);
}

class Sessions implements PostgresStore {
  readonly durable: DurableSessions;
  readonly #context: StoreContext;
  readonly #locks: SessionLocks;
  readonly #watchers = new Watchers();
  readonly #connection: OwnConnection;
  readonly #pollMs: number;
  readonly #isAutomatic: boolean;
  readonly #end: () => Promise<void>;
  #ready: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PostgresStoreOptions) {
    const { schema = DEFAULT_SCHEMA, clock = systemClock, pollMs = DEFAULT_POLL_MS } = options;
    const { timeoutMs = DEFAULT_TIMEOUT_MS, retryMs = DEFAULT_RETRY_MS } = options;
    const opened = createPool(options, timeoutMs);
    const database = new Database({ ...opened, timeoutMs, retryMs });
    const channel = `bowline_${schema}`;
    this.#end = () => opened.end();
    this.#pollMs = pollMs;
    this.#isAutomatic = options.migrations !== "manual";
    this.#context = { database, schema, channel, clock, ready: () => this.#prepare() };
    this.#connection = new OwnConnection({
      database,
      channel,
      onConnect: async (run, isNew) => {
        if (isNew) this.#watchers.changeAll();
        return this.#locks.retake(run, isNew);
      },
      onNotification: (payload) => this.#watchers.change(Number(payload)),
      isNeeded: () => !this.#locks.isEmpty || !this.#watchers.isEmpty,
    });
    this.#locks = new SessionLocks({ database, schema, connection: this.#connection });
    this.durable = new DurableLog(this.#context);
  }

  async create(header: SessionHeader, entries: readonly AnyEntry[] = []): Promise<SessionWriter> {
    checkSessionId(header.id);
    await this.#prepare();
    return createWriter(this.#context, this.#locks, header, entries);
  }

  async open(id: string, options?: OpenWriterOptions): Promise<SessionWriter> {
    const { number } = await this.#find(id);
    return openWriter(this.#context, this.#locks, { id, number }, options);
  }

  async load(id: string): Promise<SessionHeader> {
    return JSON.parse((await this.#find(id)).header) as SessionHeader;
  }

  async *read(id: string, options?: ReadOptions): AsyncGenerator<readonly AnyEntry[]> {
    const { number, nextSeq: end } = await this.#find(id);
    yield* readEntries(sourceOf(this.#context, { id, number }), end, options);
  }

  async *follow(id: string, options?: FollowOptions): AsyncGenerator<readonly AnyEntry[]> {
    const { number } = await this.#find(id);
    const listening = (): Promise<unknown> =>
      this.#connection.run(naming("Following", id), "select 1");
    const { watchers, pollMs } = { watchers: this.#watchers, pollMs: this.#pollMs };
    yield* followEntries(this.#context, { id, number, watchers, pollMs, listening }, options);
  }

  async summary(id: string): Promise<SessionSummary> {
    await this.#prepare();
    return readSummary(this.#context, id);
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    await this.#prepare();
    return listSessions(this.#context, options);
  }

  async searchTexts(text: string, options: Omit<ListOptions, "search"> = {}): Promise<SessionPage> {
    await this.#prepare();
    return listSessions(this.#context, options, text);
  }

  async delete(id: string): Promise<void> {
    const { number } = await this.#find(id);
    await this.#locks.take(id, number);
    try {
      await deleteSession(this.#context, id, number);
    } finally {
      await this.#locks.release(number);
    }
  }

  async deleteSessions(
    metadata: Readonly<Record<string, unknown>>,
    options: DeleteOptions = {},
  ): Promise<DeleteResult> {
    await this.#prepare();
    return deleteMatching(this.#context, metadata, options);
  }

  async holder(id: string): Promise<SessionHolder | undefined> {
    checkSessionId(id);
    await this.#prepare();
    return this.#locks.holder(id, toColumn(id));
  }

  async migrate(): Promise<void> {
    await migrate(this.#context.database, this.#context.schema);
  }

  async pendingMigrations(): Promise<number> {
    const { database, schema } = this.#context;
    return migrations.length - (await currentVersion(database, schema));
  }

  serverInfo(): Promise<ServerInfo> {
    return readServerInfo(this.#context.database);
  }

  async hasTables(): Promise<boolean> {
    const { database, schema } = this.#context;
    return (await currentVersion(database, schema)) > 0;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#watchers.end();
    this.#connection.close();
    this.#context.database.close();
    await this.#end();
  }

  /** Resolves when the tables are there. */
  async #prepare(): Promise<void> {
    this.#ready ??= this.#migrated();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined; // the next call tries again
      throw error;
    }
  }

  async #migrated(): Promise<void> {
    const { database, schema } = this.#context;
    if (!this.#isAutomatic) return checkMigrated(database, schema);
    // Asked first, since a user without the right to create tables may use existing ones.
    if ((await currentVersion(database, schema)) < migrations.length)
      await migrate(database, schema);
  }

  async #find(id: string): Promise<SessionRow> {
    checkSessionId(id);
    await this.#prepare();
    const { database, schema } = this.#context;
    const rows = await database.query(naming("Reading", id), selectSession(schema, "id"), [
      toColumn(id),
    ]);
    const session = toSessionRow(rows[0]);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  }
}
