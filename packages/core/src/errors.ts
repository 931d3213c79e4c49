/**
 * Failure has one type. Misuse throws a `BowlineError`; a failed model call ends its stream with a
 * final message that carries `ErrorInfo`; a failed tool becomes a tool result. Nothing here ever
 * holds a key or a token.
 */

import { defined } from "./json-value.ts";

/** Every code that can reach a user, with what it means. Pinned by a literal test. */
export const errorCodes = [
  // misuse: thrown
  "invalid_argument", // an option, schema or message that cannot work
  "invalid_state", // a call at the wrong time, such as prompt() during a run
  // requests
  "aborted", // the caller's signal fired
  "timeout", // a limit on time fired (first byte, idle, progress, whole call, tool, run)
  "connection_failed", // no answer: refused, reset, DNS, TLS
  "authentication_failed", // 401
  "permission_denied", // 403
  "not_found", // 404: no such model or no such path
  "invalid_request", // other 4xx
  "request_too_large", // 413
  "context_overflow", // the conversation does not fit the model
  "rate_limited", // 429 that may pass
  "quota_exceeded", // 402, or a 429 that will not pass
  "overloaded", // 529 or "overloaded" in words
  "server_error", // 5xx
  // answers
  "unexpected_response", // HTML, an unknown shape, no stream
  "stream_truncated", // the bytes ended before a terminal signal
  "stream_corrupt", // bytes that are no event, or two answers spliced
  "empty_response", // complete, and nothing in it
  "refusal", // the model refused
  "content_filtered", // a filter stopped the answer
  // runs
  "budget_exceeded", // turns, tokens, money or time
  "no_progress", // the same tool calls with the same results, again and again
  "invalid_output", // the answer did not fit the output schema, however often it was asked for
  "listener_failed", // a subscriber threw or took too long
  "hook_failed", // convertToLlm, transformContext, getApiKey or another hook threw
  "reader_too_slow", // a reader of a run's stream fell further behind than the stream holds
  "stream_function_failed", // a stream function threw or broke its contract
  // sessions: thrown
  "session_locked", // another writer holds the session
  "storage_failed", // a session could not be read or written: disk full, read-only, of a newer version
  "internal_error", // a defect of ours
] as const;

/** One of {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[number];

/** The JSON-safe form of an error, as it rides on messages, events and frames. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The server's own delay, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The server's id for the request, for its support desk. */
  readonly requestId?: string;
}

export interface BowlineErrorOptions extends Partial<Omit<ErrorInfo, "code" | "message">> {
  readonly cause?: unknown;
}

const brand = Symbol.for("bowline.error");

/**
 * The one error class. Recognise it with {@link isBowlineError}, which works across realms and
 * copies of this package.
 */
export class BowlineError extends Error implements ErrorInfo {
  override readonly name: string = "BowlineError";
  declare readonly code: ErrorCode;
  declare readonly retryable: boolean;
  declare readonly status?: number;
  declare readonly retryAfterMs?: number;
  declare readonly requestId?: string;

  constructor(code: ErrorCode, message: string, options: BowlineErrorOptions = {}) {
    const { cause, retryable = false } = options;
    super(message, defined({ cause }));
    Object.assign(this, toErrorInfo({ ...options, code, message, retryable }));
    Object.defineProperty(this, brand, { value: true });
  }

  toJSON(): ErrorInfo {
    return toErrorInfo(this);
  }
}

/** True for a {@link BowlineError} of any copy of this package. */
export function isBowlineError(value: unknown): value is BowlineError {
  try {
    return (value as Record<symbol, unknown> | null | undefined)?.[brand] === true;
  } catch {
    return false; // a proxy that was revoked
  }
}

/**
 * Anything thrown, as a {@link BowlineError}: one of ours stays itself, the rest is wrapped under
 * `code`.
 */
export function toBowlineError(thrown: unknown, code: ErrorCode, prefix?: string): BowlineError {
  if (isBowlineError(thrown)) return thrown;
  const message = errorText(thrown);
  return new BowlineError(code, prefix === undefined ? message : `${prefix}: ${message}`, {
    cause: thrown,
  });
}

/** Runs a caller's hook: whatever it throws becomes `hook_failed` under its name. */
export async function callHook<T>(name: string, hook: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    throw toBowlineError(error, "hook_failed", `${name} failed`);
  }
}

/** The JSON-safe form, with absent fields left out. */
export function toErrorInfo({
  code,
  message,
  retryable,
  status,
  retryAfterMs,
  requestId,
}: ErrorInfo): ErrorInfo {
  return defined({ code, message, retryable, status, retryAfterMs, requestId });
}

/**
 * What to show of anything thrown: its message, or the value as text. Never empty, never throws.
 */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message || thrown.name;
    return String(thrown) || "unknown error";
  } catch {
    return "unknown error"; // a thrown object whose own toString throws
  }
}
