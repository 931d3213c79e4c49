/**
 * The connection that a store keeps: it holds the advisory locks of the store's writers and listens
 * for new entries. The server releases the locks when the connection ends, also when its process was
 * killed. A lost connection is made anew, and its locks are taken again.
 */
import type { PostgresClient } from "../options.ts";
import { isLostConnection } from "../errors.ts";
import type { Database, Row } from "../sql/database.ts";

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2000;
const AGAIN_MS = 250;
/** How often the connection is checked, since a dead network does not say so. */
const CHECK_MS = 30_000;

/**
 * The server notices within a minute that the host of a client is gone, and releases its locks.
 * `idle_session_timeout` exists since PostgreSQL 14.
 */
const SETTINGS = `
select set_config(name, setting, false) from (values
  ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3'),
  ('idle_session_timeout', '0')
) as wanted (name, setting) where name in (select name from pg_settings)`;

export interface OwnConnectionOptions {
  readonly database: Database;
  readonly channel: string;
  /**
   * Called when the connection is made, before its first use, with `isNew`. Called again, without
   * it, as long as it resolves with false.
   */
  readonly onConnect: (run: OwnRun, isNew: boolean) => Promise<boolean>;
  readonly onNotification: (payload: string) => void;
  /** Whether the connection is needed, so that a lost one is made anew at once. */
  readonly isNeeded: () => boolean;
}

export type OwnRun = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** What `pg` can do beside {@link PostgresClient}: not keep the process running. */
interface Referenced {
  ref?(): void;
  unref?(): void;
}

interface Connected {
  readonly run: OwnRun;
  readonly drop: () => void;
}

export class OwnConnection {
  readonly #options: OwnConnectionOptions;
  #connecting: Promise<Connected> | undefined;
  #isClosed = false;
  #timers = new Set<NodeJS.Timeout>();

  constructor(options: OwnConnectionOptions) {
    this.#options = options;
  }

  /** Runs a statement, over a new connection if the last one was lost. */
  run(doing: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    return this.#options.database.retried(doing, async () => {
      const connecting = this.#connected();
      const rows = await (await connecting).run(text, values);
      // A lock of a connection that has been lost meanwhile is lost, too.
      if (this.#connecting !== connecting) throw new Error("Connection terminated");
      return rows;
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#connecting?.then(
      ({ drop }) => drop(),
      () => {},
    );
  }

  #connected(): Promise<Connected> {
    if (this.#connecting !== undefined) return this.#connecting;
    const connecting = this.#connect();
    this.#connecting = connecting;
    connecting.catch(() => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    });
    return connecting;
  }

  async #connect(): Promise<Connected> {
    const { database, channel, onConnect, onNotification } = this.#options;
    const client = await database.connect();
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      clearTimeout(check);
      this.#timers.delete(check);
      client.release(true);
      this.#lost();
    };
    const run = runner(database, client, lose);
    const check = setInterval(() => void run("select 1").catch(() => {}), CHECK_MS).unref();
    this.#timers.add(check);
    client.on("error", lose);
    client.on("end", lose);
    client.on("notification", (message) => {
      if (message.channel === channel) onNotification(message.payload ?? "");
    });
    try {
      await run(SETTINGS);
      await run(`listen ${channel}`);
      if (!(await onConnect(run, true))) this.#again(run, () => isLost);
    } catch (error) {
      lose();
      throw error;
    }
    if (isLost || this.#isClosed) {
      lose();
      throw new Error("Connection terminated");
    }
    return { run, drop: lose };
  }

  /** Calls `onConnect` again after a while. */
  #again(run: OwnRun, isOver: () => boolean): void {
    this.#after(AGAIN_MS, () => {
      if (isOver()) return;
      this.#options.onConnect(run, false).then(
        (isDone) => isDone || this.#again(run, isOver),
        () => {}, // the connection is lost, and another one begins anew
      );
    });
  }

  #lost(): void {
    this.#connecting = undefined;
    this.#reconnect(FIRST_DELAY_MS);
  }

  #reconnect(delay: number): void {
    if (this.#isClosed || this.#connecting !== undefined) return;
    this.#after(delay, () => {
      if (this.#isClosed || this.#connecting !== undefined || !this.#options.isNeeded()) return;
      this.#connected().catch(() => this.#reconnect(Math.min(2 * delay, LONGEST_DELAY_MS)));
    });
  }

  #after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms).unref();
    this.#timers.add(timer);
  }
}

/**
 * Returns a function that runs statements over the connection, one after the other, as the driver
 * wants it. The connection keeps no process running.
 */
function runner(database: Database, client: PostgresClient, lose: () => void): OwnRun {
  const reference = client as PostgresClient & Referenced;
  let running = 0;
  let last: Promise<unknown> = Promise.resolve();
  reference.unref?.();
  const perform: OwnRun = async (text, values) => {
    try {
      return await database.run(client, text, values);
    } catch (error) {
      if (isLostConnection(error)) lose();
      throw error;
    }
  };
  return async (text, values) => {
    if (running++ === 0) reference.ref?.();
    const work = last.then(() => perform(text, values));
    last = work.catch(() => {}); // the caller gets the error
    try {
      return await work;
    } finally {
      if (--running === 0) reference.unref?.();
    }
  };
}
