/**
 * The writer of a session. Pending appends are written together, one statement at a time. Each is
 * refused if another writer has taken a later epoch.
 */
import { BowlineError, isBowlineError } from "@bowline/core";
import {
  checkSequence,
  type AnyEntry,
  type SessionHeader,
  type SessionWriter,
} from "@bowline/core/session";
import { append, type Target } from "./append.ts";
import type { StoreContext } from "./context.ts";
import { isSessionFenced } from "./errors.ts";
import { encodeBatch, joinBatches, type Batch } from "./rows/insert-entries.ts";

export interface WriterOptions {
  readonly context: StoreContext;
  readonly target: Target;
  readonly header: SessionHeader;
  readonly nextSeq: number;
  readonly last: AnyEntry | undefined;
  /** Releases the lock. Absent for a writer that took the session over without one. */
  readonly release?: () => Promise<void>;
}

interface Waiting {
  readonly entries: readonly AnyEntry[];
  readonly batch: Batch;
  readonly settle: (error?: unknown) => void;
}

interface Tip {
  readonly last: AnyEntry | undefined;
  readonly nextSeq: number;
}

export class PostgresWriter implements SessionWriter {
  readonly header: SessionHeader;
  readonly damage: readonly never[] = [];
  readonly #options: WriterOptions;
  /** The last entry in the database. */
  #written: Tip;
  /** The last entry once all pending ones are written. */
  #tip: Tip;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Set when another writer has taken the session over. */
  #fenced: Error | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.header = options.header;
    const { last, nextSeq } = options;
    this.#written = { last, nextSeq };
    this.#tip = this.#written;
  }

  get last(): AnyEntry | undefined {
    return this.#tip.last;
  }

  get nextSeq(): number {
    return this.#tip.nextSeq;
  }

  /** Refuses all later appends. */
  fence(error: Error): void {
    this.#fenced ??= error;
  }

  async append(entries: readonly AnyEntry[]): Promise<void> {
    if (this.#closing !== undefined)
      throw new BowlineError("invalid_state", "The session is closed.");
    checkSequence(entries, this.#tip.nextSeq);
    const last = entries.at(-1);
    if (last === undefined) return;
    const batch = encodeBatch(entries);
    const written = new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
      // Copied, since the caller may change its list before it is written.
      this.#waiting.push({ entries: [...entries], batch, settle });
    });
    this.#tip = { last, nextSeq: last.seq + 1 };
    this.#working ??= this.#work();
    await written;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#working;
    await this.#options.release?.();
  }

  async #work(): Promise<void> {
    // Appends of the same moment are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting.splice(0);
      try {
        if (this.#fenced !== undefined) throw this.#fenced;
        await this.#write(waiting);
        for (const { settle } of waiting) settle();
      } catch (error) {
        this.#fail(waiting, error);
      }
    }
    this.#working = undefined;
  }

  async #write(waiting: readonly Waiting[]): Promise<void> {
    const { context, target } = this.#options;
    await append(context, target, joinBatches(waiting.map(({ batch }) => batch)));
    const last = waiting.at(-1)?.entries.at(-1) as AnyEntry;
    this.#written = { last, nextSeq: last.seq + 1 };
  }

  #fail(waiting: readonly Waiting[], error: unknown): void {
    const failed = [...waiting, ...this.#waiting.splice(0)];
    this.#tip = this.#written;
    if (isSessionFenced(error)) this.fence(error);
    for (const { settle } of failed) settle(explained(error));
  }
}

/** Says what to do after an append whose answer was lost. */
function explained(error: unknown): unknown {
  if (!isBowlineError(error) || error.code !== "storage_failed" || !error.retryable) return error;
  const { message, cause } = error;
  const text = `${message} If the connection was lost, the entries may have been stored: append the same ones again, or open the session again.`;
  return new BowlineError("storage_failed", text, { cause, retryable: true });
}
