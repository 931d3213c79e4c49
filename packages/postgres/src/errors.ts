/** Converts errors of PostgreSQL and of its connection to errors with a code, without a password. */
import { BowlineError, isBowlineError } from "@bowline/core";

/** A writer that another one has replaced. See {@link isSessionFenced}. */
export interface SessionFencedError extends BowlineError {
  readonly code: "session_locked";
  /** The epoch of the refused writer. */
  readonly epoch: number;
  /** The epoch of the session's present writer. */
  readonly currentEpoch: number;
}

/** Returns the error for a writer whose epoch is old. A new attempt with a new epoch may succeed. */
export function sessionFenced(id: string, epoch: number, currentEpoch: number): BowlineError {
  const message = `Session ${JSON.stringify(id)} was taken over by another writer: its epoch is ${currentEpoch}, this writer's is ${epoch}. Nothing was written. Open the session again.`;
  const error = new BowlineError("session_locked", message, { retryable: true });
  return Object.assign(error, { epoch, currentEpoch });
}

/**
 * Returns whether a writer was refused because another one took the session over. Such an error is
 * retryable: with a new epoch, or by opening the session again.
 */
export function isSessionFenced(error: unknown): error is SessionFencedError {
  return (
    isBowlineError(error) &&
    error.code === "session_locked" &&
    typeof (error as { readonly epoch?: unknown }).epoch === "number"
  );
}

/** What the server or the connection said. */
interface Reason {
  /** Follows "…failed: ". */
  readonly why: string;
  /** Whether the connection was lost or not made, so that another one may succeed. */
  readonly isLost?: boolean;
  readonly retryable?: boolean;
  /** Whether the caller's data is at fault. */
  readonly isInvalid?: boolean;
}

const SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EAI_AGAIN",
  "ENOENT",
  "ENOTCONN",
]);

/** The messages of `pg` for a connection that is gone. They have no code. */
const LOST =
  /^(?:Connection terminated|timeout (?:exceeded|expired)|Client (?:has encountered a connection error|was closed)|Query read timeout)|not queryable/i;

/** The error of a statement that took too long. Its connection is closed. */
export class StatementTimeout extends Error {
  override readonly name = "StatementTimeout";
}

/** Returns whether the same statement may succeed over another connection. */
export function isPassing(error: unknown): boolean {
  const { isLost = false, retryable = false } = reasonOf(error);
  return isLost || (retryable && codeOf(error)?.startsWith("40") === true);
}

/** Returns whether the connection of the error cannot be used again. */
export function isLostConnection(error: unknown): boolean {
  return reasonOf(error).isLost === true;
}

/** Returns the SQLSTATE or the system's code of an error. */
function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Converts an error to `storage_failed`, or to `invalid_argument`. Returns a `BowlineError` as is. */
export function storageError(
  error: unknown,
  doing: string,
  server: string,
  secrets: readonly string[],
): BowlineError {
  if (isBowlineError(error)) return error;
  const { why, isLost = false, retryable = isLost, isInvalid = false } = reasonOf(error);
  const said = error instanceof Error ? error.message : "";
  let message = `${doing} failed (${server}): ${why}`;
  for (const secret of secrets) message = message.replaceAll(secret, "…");
  const isShown = secrets.every((secret) => !said.includes(secret));
  return new BowlineError(isInvalid ? "invalid_argument" : "storage_failed", message, {
    retryable,
    // An error about a connection string may quote it.
    ...(isShown && !("input" in Object(error)) && { cause: error }),
  });
}

function reasonOf(error: unknown): Reason {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : String(error);
  const more = code === undefined ? said : `${said} (${code})`;
  if (error instanceof StatementTimeout) return { why: said, retryable: true, isLost: true };
  if (code !== undefined && SYSTEM_CODES.has(code))
    return { why: `the server cannot be reached: ${said || code}. Is it running?`, isLost: true };
  if (code === "ENOTFOUND")
    return { why: `there is no such host: ${said}. Check the name.`, retryable: true };
  if (error instanceof AggregateError) return reasonOf(error.errors[0]); // one for each address of a host
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code))
    return LOST.test(said) ? { why: `${said}.`, isLost: true } : { why: more };
  return reasonOfState(code, said, more);
}

/** The reason in an error of the server, by its SQLSTATE. */
function reasonOfState(state: string, said: string, more: string): Reason {
  switch (state.slice(0, 2)) {
    case "08":
      return { why: `the connection was lost: ${more}`, isLost: true };
    case "28":
      return { why: `the server refused the sign-in: ${more}. Check the user and the password.` };
    case "40":
      return { why: `it collided with another transaction: ${more}`, retryable: true };
    case "53":
      return {
        why: `the server lacks room: ${more}`,
        retryable: true,
        isLost: state === "53300",
      };
  }
  switch (state) {
    case "57P01":
    case "57P02":
    case "57P03":
      return { why: `the server is restarting: ${more}`, isLost: true };
    case "25P03":
      return { why: `the process stood still in a transaction: ${more}`, isLost: true };
    case "57P05":
      return { why: `the connection was closed for being idle: ${more}`, isLost: true };
    case "58030":
      return { why: `the server cannot write: ${more}`, retryable: true };
    case "25006":
      return { why: `the server is read-only, such as a standby: ${more}`, retryable: true };
    case "3D000":
      return { why: `${said} (${state}). Create it first, with the encoding UTF8.` };
    case "23505":
      return { why: "the session already has an entry with one of these ids", isInvalid: true };
    case "42501":
      return { why: `the user lacks a right: ${more}. See "Rights" in docs/postgres.md.` };
    case "3F000":
    case "42P01":
    case "42703":
      return { why: `the tables are missing or old: ${more}. Call migrate().` };
    default:
      return { why: more };
  }
}
