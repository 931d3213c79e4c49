/**
 * The runs of one session: one at a time, the others queued. Also serialises all other writes to
 * the session.
 */
import { createSession, openSession, type Session, type Store } from "@bowline/core/session";
import { ownedBy, type User } from "../access/user.ts";
import type { Incoming } from "./incoming.ts";
import { isMissing } from "../../is-missing.ts";
import type { Run } from "./run.ts";

export class Lane {
  readonly key: string;
  readonly #store: Store;
  current: Run | undefined;
  readonly waiting: Run[] = [];
  /** Messages that an aborted run left, or that began a failed run. The next run takes them. */
  held: Incoming[] = [];
  #session: Session | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #accepting: Promise<unknown> = Promise.resolve();
  #uses = 0;
  #lastTime = 0;
  readonly #awaitingEnd: (() => void)[] = [];

  constructor(key: string, store: Store) {
    this.key = key;
    this.#store = store;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  get isIdle(): boolean {
    return !this.isBusy && this.held.length === 0 && this.#uses === 0;
  }

  /**
   * Returns a unique timestamp for a message. After a crash, its time and text identify the
   * message, and its time orders it.
   */
  nextTime(now: number): number {
    this.#lastTime = Math.max(now, this.#lastTime + 1);
    return this.#lastTime;
  }

  /** The current run and the queued runs, in order. */
  get runs(): readonly Run[] {
    return this.current === undefined ? this.waiting : [this.current, ...this.waiting];
  }

  /** Whether a run is current or queued. */
  get isBusy(): boolean {
    return this.current !== undefined || this.waiting.length > 0;
  }

  /** Resolves when a run ends or a queued run is removed. */
  nextEnd(): Promise<void> {
    return new Promise((resolve) => void this.#awaitingEnd.push(resolve));
  }

  noteEnd(): void {
    for (const go of this.#awaitingEnd.splice(0)) go();
  }

  /** Removes a queued run. */
  remove(run: Run): void {
    const index = this.waiting.indexOf(run);
    if (index >= 0) this.waiting.splice(index, 1);
    this.noteEnd();
  }

  /** Creates the session. Returns false if it exists. */
  create(agentId: string, user: User, title: string | undefined): Promise<boolean> {
    return this.exclusive(async () => {
      if (await this.#isThere()) return false;
      const metadata = { agentId, ...ownedBy(user) };
      const session = await createSession(this.#store, { id: this.key, metadata });
      try {
        if (title !== undefined) await session.rename(title);
        return true;
      } finally {
        await session.close();
      }
    });
  }

  /**
   * Calls `work` with the session open for writing. Uses the session of the current run if there is
   * one. Rejects with `not_found` if the session does not exist.
   */
  write<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.exclusive(async () => {
      if (this.#session !== undefined) return work(this.#session);
      const session = await openSession(this.#store, this.key);
      try {
        return await work(session);
      } finally {
        await session.close();
      }
    });
  }

  /** Opens the session for a run. Creates it for this user if it does not exist. */
  async begin(agentId: string, user?: User): Promise<Session> {
    const options = { create: true, metadata: { agentId, ...ownedBy(user) } };
    return this.exclusive(
      async () => (this.#session = await openSession(this.#store, this.key, options)),
    );
  }

  async end(): Promise<void> {
    await this.exclusive(async () => {
      const session = this.#session;
      this.#session = undefined;
      await session?.close();
    });
  }

  /** Accepts messages in the order in which they arrived. */
  inOrder<T>(accept: () => Promise<T>): Promise<T> {
    this.#uses++;
    const done = this.#accepting.then(accept).finally(() => this.#uses--);
    this.#accepting = settled(done);
    return done;
  }

  /** Runs `work` after all earlier calls. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#uses++;
    const done = this.#tail.then(work).finally(() => this.#uses--);
    this.#tail = settled(done);
    return done;
  }

  async #isThere(): Promise<boolean> {
    try {
      await this.#store.load(this.key);
      return true;
    } catch (error) {
      if (!isMissing(error)) throw error;
      return false;
    }
  }
}

/** Drops the result, since it may hold a whole run in memory. */
function settled(done: Promise<unknown>): Promise<void> {
  return done.then(
    () => {},
    () => {},
  );
}
