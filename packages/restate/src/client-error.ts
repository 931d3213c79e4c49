/** Gives errors of Restate's HTTP interface a code. */
import { HttpCallError } from "@restatedev/restate-sdk-clients";
import { BowlineError, isBowlineError, type ErrorCode } from "@bowline/core";

const codes: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_argument",
  401: "authentication_failed",
  403: "permission_denied",
  404: "not_found",
  408: "timeout",
  // The invocation was cancelled before it began, or killed.
  409: "aborted",
  429: "rate_limited",
};

export function toClientError(error: unknown): BowlineError {
  if (isBowlineError(error)) return error;
  if (error instanceof HttpCallError) return toStatusError(error.status, error.responseText, error);
  const { name } = (error ?? {}) as { readonly name?: unknown };
  if (name === "TimeoutError")
    return new BowlineError("timeout", "Restate did not answer in time.", {
      retryable: true,
      cause: error,
    });
  if (name === "AbortError")
    return new BowlineError("aborted", "The request was aborted.", { cause: error });
  return new BowlineError("connection_failed", "Restate could not be reached. Is it running?", {
    retryable: true,
    cause: error,
  });
}

/** Returns the error for a response with this status and text. */
export function toStatusError(status: number, text: string, cause?: unknown): BowlineError {
  const code = codes[status] ?? (status >= 500 ? "server_error" : "invalid_request");
  const retryable = status === 429 || isBusy(status);
  const message = `Restate answered ${status}: ${messageIn(text)}`;
  return new BowlineError(code, message, { status, retryable, cause });
}

/** A run that fails has the status 500, and the same outcome at each request. */
function isBusy(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}
