/**
 * Runs statements over a pool: bounded in time, retried when the connection is lost, with typed
 * errors. Everything that is run here may run twice: the answer to a commit can be lost.
 */
import { BowlineError } from "@bowline/core";
import type { PostgresClient, PostgresPool } from "../options.ts";
import { isLostConnection, isPassing, StatementTimeout, storageError } from "../errors.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  readonly pool: PostgresPool;
  readonly server: string;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly retryMs: number;
}

/**
 * The server ends a transaction whose process says nothing for this long: a process that is stopped, or
 * whose machine sleeps, would keep the locks of its session. One statement, for one round trip.
 */
const BEGIN = "begin; set local idle_in_transaction_session_timeout = '5s'";
const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 1000;

export class Database {
  readonly #options: DatabaseOptions;
  #isClosed = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  /** Runs one statement. `doing` begins the message of an error. */
  query(doing: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    return this.retried(doing, () => this.#withClient((run) => run(text, values)));
  }

  /** Runs `work` in a transaction, from its beginning again if the connection is lost. */
  transaction<T>(doing: string, work: (run: Run) => Promise<T>): Promise<T> {
    return this.retried(doing, () =>
      this.#withClient(async (run) => {
        await run(BEGIN);
        let result: T;
        try {
          result = await work(run);
        } catch (error) {
          // A lost connection has no transaction to end.
          if (!isLostConnection(error)) await run("rollback");
          throw error;
        }
        await run("commit");
        return result;
      }),
    );
  }

  /** Refuses everything from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes a connection out of the pool. The caller releases it. */
  async connect(): Promise<PostgresClient> {
    if (this.#isClosed) throw new BowlineError("invalid_state", "The store is closed.");
    const { pool, timeoutMs } = this.#options;
    const connecting = pool.connect();
    const giveBack = (): void =>
      void connecting.then(
        (late) => late.release(),
        () => {},
      );
    return within(connecting, timeoutMs, "No connection", giveBack);
  }

  /** Runs a statement over a connection, bounded in time. */
  async run(
    client: Pick<PostgresClient, "query">,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    const query = values.length === 0 ? { text } : { text, values: [...values] };
    const { rows } = await within(client.query(query), this.#options.timeoutMs, "No answer");
    return rows as readonly Row[];
  }

  /** Converts an error to one for the caller. */
  toError(error: unknown, doing: string): Error {
    return storageError(error, doing, this.#options.server, this.#options.secrets);
  }

  async #withClient<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const client = await this.connect();
    // Without a listener, an error between two statements would end the process.
    let broken: Error | undefined;
    const note = (error: Error): void => void (broken = error);
    client.on("error", note);
    try {
      return await work((text, values) => this.run(client, text, values));
    } catch (error) {
      if (isLostConnection(error)) broken ??= error as Error;
      throw error;
    } finally {
      client.removeListener("error", note);
      client.release(broken);
    }
  }

  /** Runs `work` again while it fails because of the connection, up to the limit of the options. */
  async retried<T>(doing: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
      try {
        return await work();
      } catch (error) {
        const isLate = performance.now() - started + delay > this.#options.retryMs;
        if (isLate || !isPassing(error)) throw this.toError(error, doing);
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

/** Returns a text column that may be null. */
export function textOrNull(column: unknown): string | null {
  return typeof column === "string" ? column : null;
}

async function within<T>(
  work: Promise<T>,
  ms: number,
  what: string,
  onLate: () => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(new StatementTimeout(`${what} within ${ms} ms.`));
    }, ms);
  });
  work.catch(() => {}); // it may fail after the limit
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
