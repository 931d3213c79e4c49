/**
 * Where sessions are kept. Small enough for a database: rows by (session, seq), a lease for the
 * writer, a notification for followers. `storeConformance` of `@bowline/core/testing` says whether
 * a store keeps these contracts.
 */
import { BowlineError } from "../errors.ts";
import type { AnyEntry, SessionHeader, SessionModel } from "./entry.ts";

/**
 * Every promise and iteration rejects with `not_found` for a session that is not there,
 * `invalid_argument` for an id that cannot be one, and `storage_failed` when what is below fails
 * (disk full, read-only, of a newer version).
 */
export interface Store {
  /**
   * A new session with its first entries, whole or not at all, held for writing. `invalid_state` if
   * there is one of this id.
   */
  create(header: SessionHeader, entries?: readonly AnyEntry[]): Promise<SessionWriter>;
  /**
   * Holds a session for writing. `session_locked`, naming the holder, while another holds it, in
   * this process or elsewhere.
   */
  open(id: string): Promise<SessionWriter>;
  load(id: string): Promise<SessionHeader>;
  /**
   * What is there now, in batches of bounded size. What is damaged is left out and reported. Takes
   * no lock.
   */
  read(id: string, options?: ReadOptions): AsyncIterable<readonly AnyEntry[]>;
  /**
   * What is there, then what is appended, in order and without a gap, whoever appends it. Ends when
   * `signal` fires or the session is deleted. Entries may come just before their append is
   * acknowledged.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<readonly AnyEntry[]>;
  /** The latest first. */
  list(options?: ListOptions): Promise<SessionPage>;
  /** `session_locked` while it is held for writing. */
  delete(id: string): Promise<void>;
  /**
   * Who holds the session for writing; undefined when nobody does, also for a session that is not
   * there. Cheap: for lists.
   */
  holder(id: string): Promise<SessionHolder | undefined>;
}

export interface SessionHolder {
  /** Whether it is the process that asks. */
  readonly isThisProcess: boolean;
  /** Absent where a store knows no processes. */
  readonly pid?: number;
  readonly host?: string;
  /** When it took hold of the session, in milliseconds since the epoch. */
  readonly since: number;
}

/** The one writer of a session, until it is closed. */
export interface SessionWriter {
  readonly header: SessionHeader;
  /** What was found broken and mended on opening. */
  readonly damage: readonly SessionDamage[];
  /** The last entry that was given to `append`; when an append fails, the last that was written. */
  readonly last: AnyEntry | undefined;
  /** The `seq` of the next entry. */
  readonly nextSeq: number;
  /**
   * Resolves when the entries are as durable as the store promises; calls that wait at the same
   * time may share the cost. On failure nothing of them is kept, calls behind this one fail too,
   * and the writer can be tried again unless its message says that the session has to be reopened.
   * `invalid_argument` if the entries do not count on from `nextSeq` or are no JSON,
   * `invalid_state` after `close`.
   */
  append(entries: readonly AnyEntry[]): Promise<void>;
  /** Waits for what was appended and lets the session go. Safe to call twice. */
  close(): Promise<void>;
}

export interface ReadOptions {
  /** The `seq` to begin with. Default: the first, or in reverse the last. */
  readonly from?: number | undefined;
  /** From the end to the beginning. */
  readonly reverse?: boolean | undefined;
  readonly onDamage?: ((damage: SessionDamage) => void) | undefined;
}

export interface FollowOptions extends Pick<ReadOptions, "from" | "onDamage"> {
  readonly signal?: AbortSignal | undefined;
}

/** Records that cannot be trusted, or the broken end that a crash left. */
export interface SessionDamage {
  /** A sentence for people: what, where, and what became of it. */
  readonly message: string;
  /** The file in which the bytes are kept aside, when they were taken out of the session. */
  readonly savedTo?: string;
}

export interface ListOptions {
  /** Only sessions whose title contains this, in whatever case. */
  readonly search?: string | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | undefined;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** For the next page; absent on the last. */
  readonly cursor?: string;
}

export interface SessionSummary extends SessionHeader {
  /** As it was last named, or the beginning of the first user message. */
  readonly title?: string;
  /** The model that was asked or chosen last. */
  readonly model?: SessionModel;
  /** The latest time that an entry has. */
  readonly updatedAt: number;
  readonly entryCount: number;
  readonly messageCount: number;
}

const MAX_ID_LENGTH = 512;

/** Throws `invalid_argument` unless a session can have this id. */
export function checkSessionId(id: string): void {
  const fits =
    typeof id === "string" &&
    id.length > 0 &&
    id.length <= MAX_ID_LENGTH &&
    !/\p{Surrogate}/u.test(id);
  if (!fits)
    throw new BowlineError(
      "invalid_argument",
      "A session id is a well-formed text of 1 to 512 characters.",
    );
}

/** The refusal of a second writer. */
export function sessionLocked(id: string, holder: string): BowlineError {
  const message = `Session ${JSON.stringify(id)} is being written by ${holder}; it can be read meanwhile.`;
  return new BowlineError("session_locked", message, { retryable: true });
}

export function sessionNotFound(id: string): BowlineError {
  return new BowlineError("not_found", `There is no session ${JSON.stringify(id)}.`);
}

export function sessionExists(id: string): BowlineError {
  return new BowlineError("invalid_state", `There is a session ${JSON.stringify(id)} already.`);
}

/** Throws `invalid_argument` unless the entries count on from `seq`. */
export function checkSequence(entries: readonly AnyEntry[], seq: number): void {
  for (const [index, entry] of entries.entries()) {
    if (entry.seq === seq + index) continue;
    throw new BowlineError(
      "invalid_argument",
      `The entry after ${seq + index - 1} cannot be ${entry.seq}.`,
    );
  }
}

/** An entry as JSON. Throws `invalid_argument` for what JSON cannot say. */
export function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new BowlineError("invalid_argument", "An entry of a session must be JSON.", {
      cause: error,
    });
  }
}
