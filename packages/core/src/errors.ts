/**
 * The one error type of this package. Misuse throws a `BowlineError`. A failed model call ends its
 * stream with a final message that carries `ErrorInfo`. A failed tool call becomes a tool result.
 * Errors never contain a key or a token.
 */

import { defined } from "./json-value.ts";

/** Every error code that can reach a user. The comment of each is its meaning in the reference. */
export const errorCodes = [
  // misuse: thrown
  "invalid_argument", // an option, schema or message that cannot work
  "invalid_state", // a call at the wrong time, such as prompt() during a run
  // requests
  "aborted", // the caller's signal fired
  "timeout", // a time limit expired (first byte, idle, progress, whole call, tool, run)
  "connection_failed", // no response: refused, reset, DNS, TLS
  "authentication_failed", // the server refused the key: 401
  "permission_denied", // the key may not use this model or path, or the caller this chat: 403
  "not_found", // 404: no such model or no such path
  "invalid_request", // the server refused the request: any other 4xx
  "request_too_large", // the request body is too long for the server: 413
  "context_overflow", // the conversation exceeds the model's context window
  "rate_limited", // too many requests, for a time: 429
  "quota_exceeded", // no credit left: 402, or a 429 that no retry will pass
  "overloaded", // the server says that it is overloaded: 529, or in words
  "server_error", // the server failed: any other 5xx
  // answers
  "unexpected_response", // not an answer of the protocol: HTML, an unknown shape, no stream
  "stream_truncated", // the bytes ended before a terminal signal
  "stream_corrupt", // bytes that are not an event, or an answer that contradicts itself; its calls do not run
  "empty_response", // the answer is complete and has no content
  "refusal", // the model refused
  "content_filtered", // a filter stopped the answer
  // runs
  "budget_exceeded", // the run used its budget of turns, tokens, money or time
  "no_progress", // the same tool calls gave the same results repeatedly
  "invalid_output", // the answer did not fit the output schema after the last attempt
  "listener_failed", // a subscriber threw or took too long
  "hook_failed", // convertToLlm, transformContext, getApiKey or another hook threw
  "reader_too_slow", // a reader fell so far behind that the stream evicted events it needs
  "stream_function_failed", // a stream function threw or broke its contract
  // sessions: thrown
  "session_locked", // another writer holds the session
  "storage_failed", // a session cannot be read or written: disk full, read-only, newer format
  // any
  "internal_error", // a bug in this package
] as const;

/** One of {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[number];

/** The JSON-safe form of an error, as messages, events and frames carry it. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  /** HTTP status of the response, if there was a response. */
  readonly status?: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The delay that the server asked for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The server's id of the request. Quote it to the server's support. */
  readonly requestId?: string;
}

/** The fields of an error besides code and message. `retryable` defaults to false. */
export interface BowlineErrorOptions extends Partial<Omit<ErrorInfo, "code" | "message">> {
  /** The original error. */
  readonly cause?: unknown;
}

const brand = Symbol.for("bowline.error");

/**
 * The one error class. Test for it with {@link isBowlineError}, which works across realms and
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

/** Returns true for a {@link BowlineError} of any copy of this package. */
export function isBowlineError(value: unknown): value is BowlineError {
  try {
    return (value as Record<symbol, unknown> | null | undefined)?.[brand] === true;
  } catch {
    return false; // a revoked proxy throws on any access
  }
}

/**
 * Converts a thrown value to a {@link BowlineError}. Returns a `BowlineError` as is and wraps
 * anything else with `code`.
 */
export function toBowlineError(thrown: unknown, code: ErrorCode, prefix?: string): BowlineError {
  if (isBowlineError(thrown)) return thrown;
  const message = errorText(thrown);
  return new BowlineError(code, prefix === undefined ? message : `${prefix}: ${message}`, {
    cause: thrown,
  });
}

/** Runs a caller's hook and turns a thrown value into a `hook_failed` error that names the hook. */
export async function callHook<T>(name: string, hook: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    throw toBowlineError(error, "hook_failed", `${name} failed`);
  }
}

/** Returns the JSON-safe form of an error without its absent fields. */
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
 * Returns the text to show for a thrown value: its message, or the value as text. The text is never
 * empty. Never throws.
 */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message || thrown.name;
    return String(thrown) || "unknown error";
  } catch {
    return "unknown error"; // a thrown object whose own toString throws
  }
}
