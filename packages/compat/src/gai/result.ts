/** gai's results and errors. They are values and never thrown. */
import type { ErrorInfo } from "@bowline/core";
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });
export const err = <E>(error: E): Result<never, E> => ({ ok: false, error });

/** The errors of a tool. */
export interface ToolError {
  readonly type: "ParseError" | "ExecutionError";
  readonly message: string;
}

/**
 * The errors of a run. `HttpError` has the response's status, or 0 without a response. `code` is
 * `missing_model`, `max_iterations`, or one of core's `errorCodes`.
 */
export type GaiError =
  | { readonly type: "HttpError"; readonly status: number; readonly message: string }
  | { readonly type: "ApiError"; readonly code: string; readonly message: string }
  | { readonly type: "ParseError"; readonly message: string };

export function errorToString(error: GaiError | ToolError): string {
  switch (error.type) {
    case "HttpError":
      return `HTTP error ${error.status}: ${error.message}`;
    case "ApiError":
      return `API error (${error.code}): ${error.message}`;
    case "ParseError":
      return `Parse error: ${error.message}`;
    case "ExecutionError":
      return `Execution error: ${error.message}`;
  }
}

export function missingModel(provider: string): GaiError {
  const message = `The provider ${provider} has no model: set one, or name it in new(apiKey, model).`;
  return { type: "ApiError", code: "missing_model", message };
}

/** Converts core's error to gai's. `isUsedUp`: the run made all its iterations. */
export function toGaiError({ code, message, status }: ErrorInfo, isUsedUp = false): GaiError {
  if (isUsedUp)
    return {
      type: "ApiError",
      code: "max_iterations",
      message: "Tool loop exceeded maximum iterations",
    };
  if (status !== undefined) return { type: "HttpError", status, message };
  const isUnreadable =
    code === "unexpected_response" || code === "stream_corrupt" || code === "stream_truncated";
  return isUnreadable ? { type: "ParseError", message } : { type: "ApiError", code, message };
}
