/**
 * The interface of session storage. It is small enough for a database: rows by (session, seq), a
 * lease for the writer, a notification for followers. Test a store with `storeConformance` of
 * `@bowline/core/testing`.
 */
import { BowlineError, errorText } from "../errors.ts";
import type { AnyEntry, SessionHeader, SessionModel } from "./entry.ts";

/**
 * Stores sessions. Files in messages are read as they were appended; a store may keep large ones
 * apart, each once. A file that is missing or damaged is replaced by a text part that says so, and
 * reported to `onDamage`. Every promise and iteration rejects with `not_found` for a missing session,
 * `invalid_argument` for an invalid id, and `storage_failed` when the storage fails (disk full,
 * read-only, newer format).
 */
export interface Store {
  /**
   * Creates a session with its first entries atomically and opens it for writing. Rejects with
   * `invalid_state` if a session has this id already.
   */
  create(header: SessionHeader, entries?: readonly AnyEntry[]): Promise<SessionWriter>;
  /**
   * Opens a session for writing. Rejects with `session_locked`, naming the holder, while it has a
   * writer in this or another process.
   */
  open(id: string): Promise<SessionWriter>;
  load(id: string): Promise<SessionHeader>;
  /**
   * Yields the current entries in batches of bounded size. Damaged entries are left out and
   * reported to `onDamage`. Takes no lock.
   */
  read(id: string, options?: ReadOptions): AsyncIterable<readonly AnyEntry[]>;
  /**
   * Yields the current entries, then new ones from any writer, in order and without gaps. Ends when
   * `signal` fires or the session is deleted. An entry may arrive just before its append is
   * acknowledged.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<readonly AnyEntry[]>;
  /** Lists sessions, latest first. */
  list(options?: ListOptions): Promise<SessionPage>;
  /** Deletes a session. Rejects with `session_locked` while it is open for writing. */
  delete(id: string): Promise<void>;
  /**
   * Resolves with the holder of the session's write lock. Undefined for a session without a writer,
   * and for a missing session. Cheap enough to call for each session of a list.
   */
  holder(id: string): Promise<SessionHolder | undefined>;
}

export interface SessionHolder {
  /** Whether this process is the holder. */
  readonly isThisProcess: boolean;
  /** Id of the process. Absent if the store does not know processes. */
  readonly pid?: number;
  readonly host?: string;
  /** When the session was opened for writing, in milliseconds since the epoch. */
  readonly since: number;
}

/** The only writer of a session, until it is closed. */
export interface SessionWriter {
  readonly header: SessionHeader;
  /** Damage that was found and repaired on opening. */
  readonly damage: readonly SessionDamage[];
  /**
   * The last entry passed to `append`. After a failed append, the last entry written. After opening,
   * its large files may be references: see {@link ReadOptions.files}.
   */
  readonly last: AnyEntry | undefined;
  /** The `seq` of the next entry. */
  readonly nextSeq: number;
  /**
   * Appends entries. Resolves when they are as durable as the store promises. Concurrent calls may
   * be written together. If a write fails, none of the entries is stored and all pending calls fail
   * too. You can then retry, unless the error says to open the session again. Rejects with
   * `invalid_argument` if the entries do not continue from `nextSeq` or are not JSON, and with
   * `invalid_state` after `close`.
   */
  append(entries: readonly AnyEntry[]): Promise<void>;
  /** Waits for pending appends and releases the session. Safe to call twice. */
  close(): Promise<void>;
}

export interface ReadOptions {
  /** The `seq` to begin with. Default: the first, or the last if `reverse`. */
  readonly from?: number | undefined;
  /** Reads from the end to the beginning. Default false. */
  readonly reverse?: boolean | undefined;
  /**
   * Whether to load the large files of messages. If false, the `data` of their content part is a
   * {@link StoredFile}. A store may load them nevertheless. Default true.
   */
  readonly files?: boolean | undefined;
  /** Called for each damaged record, which is left out. */
  readonly onDamage?: ((damage: SessionDamage) => void) | undefined;
}

export interface FollowOptions extends Pick<ReadOptions, "from" | "files" | "onDamage"> {
  /** Stops the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** Damaged records, or the incomplete end that a crash left. */
export interface SessionDamage {
  /** A sentence for people: what is damaged, where, and what was done. */
  readonly message: string;
  /** The file with the damaged bytes, if they were removed from the session. */
  readonly savedTo?: string;
}

export interface ListOptions {
  /** Only sessions whose title contains this text, ignoring case. */
  readonly search?: string | undefined;
  /** Maximum number of sessions. Default 50. */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Cursor of the next page. Absent on the last page. */
  readonly cursor?: string;
}

export interface SessionSummary extends SessionHeader {
  /** The last title set, or the beginning of the first user message. */
  readonly title?: string;
  /** The model that was used or chosen last. */
  readonly model?: SessionModel;
  /**
   * Latest timestamp of an entry, or `createdAt` if that is later. Milliseconds since the epoch.
   */
  readonly updatedAt: number;
  readonly entryCount: number;
  readonly messageCount: number;
}

const MAX_ID_LENGTH = 512;

/** Throws `invalid_argument` for an invalid session id. */
export function checkSessionId(id: string): void {
  const fits =
    typeof id === "string" &&
    id.length > 0 &&
    id.length <= MAX_ID_LENGTH &&
    !/\p{Surrogate}/u.test(id);
  if (!fits)
    throw new BowlineError(
      "invalid_argument",
      "A session id must be a well-formed string of 1 to 512 characters.",
    );
}

/** Returns the error for a second writer. */
export function sessionLocked(id: string, holder: string): BowlineError {
  const message = `Session ${JSON.stringify(id)} is in use by ${holder}. Close it there, or open it for reading only.`;
  return new BowlineError("session_locked", message, { retryable: true });
}

export function sessionNotFound(id: string): BowlineError {
  return new BowlineError("not_found", `There is no session ${JSON.stringify(id)}.`);
}

export function sessionExists(id: string): BowlineError {
  return new BowlineError("invalid_state", `Session ${JSON.stringify(id)} already exists.`);
}

/** Throws `invalid_argument` unless the entries are numbered consecutively from `seq`. */
export function checkSequence(entries: readonly AnyEntry[], seq: number): void {
  for (const [index, entry] of entries.entries()) {
    if (entry.seq === seq + index) continue;
    throw new BowlineError(
      "invalid_argument",
      `The next entry must have seq ${seq + index}, not ${entry.seq}.`,
    );
  }
}

/** Serialises an entry. Throws `invalid_argument` if it is not JSON. */
export function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new BowlineError(
      "invalid_argument",
      `An entry of a session must be JSON: ${errorText(error)}`,
      { cause: error },
    );
  }
}
