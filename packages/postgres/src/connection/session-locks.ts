/** The write locks that a store holds, as advisory locks of its own connection. */
import { sessionLocked, type SessionHolder } from "@bowline/core/session";
import { sessionFenced } from "../errors.ts";
import type { Database, Row } from "../sql/database.ts";
import type { OwnConnection, OwnRun } from "./own-connection.ts";
import { describeHolder, thisProcess, toHolder } from "./process-holder.ts";

/** A lock that this store holds or is taking. */
interface Held {
  readonly id: string;
  /** False while it is being taken. */
  isTaken: boolean;
  /** The connection that had it ended, and the new one does not have it yet. */
  isLost: boolean;
  /** The epoch of the writer. Undefined until it has one. */
  epoch: number | undefined;
  onLost: (error: Error) => void;
}

/** The server needs a moment to notice that a killed process is gone. */
const TRIES = 4;
const PAUSE_MS = 20;

export interface SessionLocksOptions {
  readonly database: Database;
  readonly schema: string;
  readonly connection: OwnConnection;
}

export class SessionLocks {
  readonly #options: SessionLocksOptions;
  readonly #held = new Map<number, Held>();

  constructor(options: SessionLocksOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** Takes the lock of a session. Rejects with `session_locked`, naming the holder. */
  async take(id: string, number: number): Promise<void> {
    // The server lets one connection take a lock twice.
    if (this.#held.has(number)) throw sessionLocked(id, "this process");
    const held: Held = { id, isTaken: false, isLost: false, epoch: undefined, onLost: () => {} };
    this.#held.set(number, held);
    try {
      for (let left = TRIES; !(await this.#tryToLock(id, number)); left--) {
        if (left <= 1) throw sessionLocked(id, await this.#holderName(number));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      held.isTaken = true;
    } catch (error) {
      this.#held.delete(number);
      throw error;
    }
  }

  /**
   * Notes the epoch of the writer that has the lock. `onLost` is called if another writer took the
   * session over while the connection was lost.
   */
  hold(number: number, epoch: number, onLost: Held["onLost"]): void {
    const held = this.#held.get(number);
    if (held !== undefined) Object.assign(held, { epoch, onLost });
  }

  /** Releases a lock. The end of the connection releases it, too. */
  async release(number: number): Promise<void> {
    const held = this.#held.get(number);
    if (held === undefined) return;
    try {
      await this.#options.connection.run(
        `Releasing session ${JSON.stringify(held.id)}`,
        `select pg_advisory_unlock(${KEY})`,
        [this.#name(number)],
      );
    } finally {
      this.#held.delete(number);
    }
  }

  /**
   * Takes all locks again over a new connection. Resolves with false if another connection still has
   * one of them: the server may not have noticed that the old one is gone. Call it again then.
   */
  async retake(run: OwnRun, isNew: boolean): Promise<boolean> {
    let isDone = true;
    for (const [number, held] of this.#held) {
      if (!held.isTaken) continue;
      if (isNew) held.isLost = true;
      if (!held.isLost) continue;
      const name = this.#name(number);
      const [lock] = await run(`select pg_try_advisory_lock(${KEY}) as is_locked`, [name]);
      const current = await this.#epochOf(run, number);
      const isSame = held.epoch === undefined || current === held.epoch;
      if (isSame) {
        held.isLost = lock?.is_locked !== true;
        isDone &&= !held.isLost;
        continue;
      }
      if (lock?.is_locked === true) await run(`select pg_advisory_unlock(${KEY})`, [name]);
      this.#held.delete(number);
      held.onLost(sessionFenced(held.id, held.epoch ?? 0, current));
    }
    return isDone;
  }

  /** Resolves with the process that has the lock of a session. */
  async holder(id: string, column: string): Promise<SessionHolder | undefined> {
    const { database, schema } = this.#options;
    const [row] = await database.query(
      `Reading the holder of session ${JSON.stringify(id)}`,
      `select holder, case when holder is null then false else ${isLocked("$2 || number")} end as is_locked
      from ${schema}.sessions where id = $1`,
      [column, this.#name("")],
    );
    return row?.is_locked === true ? toHolder(row.holder) : undefined;
  }

  async #tryToLock(id: string, number: number): Promise<boolean> {
    const [row] = await this.#options.connection.run(
      `Locking session ${JSON.stringify(id)}`,
      `select pg_try_advisory_lock(${KEY}) as is_locked`,
      [this.#name(number)],
    );
    return row?.is_locked === true;
  }

  async #holderName(number: number): Promise<string> {
    const { database, schema } = this.#options;
    const [row] = await database.query(
      "Reading the holder of a session",
      `select holder from ${schema}.sessions where number = $1`,
      [number],
    );
    return describeHolder(row?.holder, thisProcess());
  }

  async #epochOf(run: OwnRun, number: number): Promise<number> {
    const text = `select epoch from ${this.#options.schema}.sessions where number = $1`;
    const [row]: readonly Row[] = await run(text, [number]);
    return Number(row?.epoch ?? 0);
  }

  #name(number: number | string): string {
    return `bowline ${this.#options.schema} ${number}`;
  }
}

/** The key of an advisory lock, from the name in `$1`. */
const KEY = "hashtextextended($1, 0)";

/** Whether a lock is held, from its name. `pg_locks` has the halves of its key as `oid`. */
function isLocked(name: string): string {
  return `exists (
    select 1 from pg_locks, (select hashtextextended(${name}, 0) as key) as wanted
    where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = ((key >> 32) & 4294967295) and objid::bigint = (key & 4294967295)
  )`;
}
