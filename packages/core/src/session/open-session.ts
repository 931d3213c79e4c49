/** Creates and opens sessions of a store. */
import { BowlineError, isBowlineError, type ErrorCode } from "../errors.ts";
import type { SessionHeader } from "./entry.ts";
import { Session } from "./session.ts";
import { newHeader, type NewSession, type SessionOptions } from "./session-options.ts";
import type { Store } from "./store.ts";

/** Creates a session and opens it for writing. Rejects as {@link Store.create} does. */
export async function createSession(
  store: Store,
  options: SessionOptions & NewSession = {},
): Promise<Session> {
  return new Session(store, await store.create(newHeader(options)), options);
}

export interface OpenOptions extends SessionOptions {
  /** Opens the session for reading only, without its write lock. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Creates the session if it is missing. Default false. Not allowed with `readOnly`. */
  readonly create?: boolean | undefined;
  /** Metadata of a session that is created. Default: none. */
  readonly metadata?: SessionHeader["metadata"] | undefined;
}

/**
 * Opens a session, for writing unless `readOnly` is true. Rejects with `not_found` for a missing
 * session unless `create` is set, with `session_locked` while it has another writer, and as {@link
 * Store.open} and {@link Store.load} do.
 */
export async function openSession(
  store: Store,
  id: string,
  options: OpenOptions = {},
): Promise<Session> {
  const { readOnly = false, create = false } = options;
  if (readOnly && create)
    throw new BowlineError(
      "invalid_argument",
      "The options create and readOnly exclude each other. Pass only one.",
    );
  if (readOnly) return new Session(store, await store.load(id), options);
  try {
    return new Session(store, await store.open(id), options);
  } catch (error) {
    if (!create || !hasCode(error, "not_found")) throw error;
  }
  try {
    return await createSession(store, { ...options, id });
  } catch (error) {
    if (!hasCode(error, "invalid_state")) throw error;
    // Another writer has created it in the meantime.
    return new Session(store, await store.open(id), options);
  }
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return isBowlineError(error) && error.code === code;
}
