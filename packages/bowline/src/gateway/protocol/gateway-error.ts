/** Errors with which the gateway refuses a request. */
import { isBowlineError, type ErrorCode } from "@bowline/core";
import { errorNumbers, type ErrorName, type FrameError, type Issue } from "./frame.ts";

interface Details {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly issues?: readonly Issue[];
}

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly frame: FrameError;

  constructor(name: ErrorName, message: string, { retryable = false, ...details }: Details = {}) {
    super(message);
    this.frame = { code: errorNumbers[name], message, data: { code: name, retryable, ...details } };
  }
}

const names: Partial<Record<ErrorCode, ErrorName>> = {
  not_found: "not_found",
  invalid_argument: "bad_params",
  invalid_state: "conflict",
  session_locked: "conflict",
};

/**
 * Converts a thrown value to an error for the client. Unknown errors become `internal`, without
 * details.
 */
export function toFrameError(thrown: unknown): FrameError {
  if (thrown instanceof GatewayError) return thrown.frame;
  if (!isBowlineError(thrown))
    return new GatewayError("internal", "The server failed to handle this request.").frame;
  const { code, message, retryable, retryAfterMs } = thrown;
  const data = { code, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { code: errorNumbers[names[code] ?? "internal"], message, data };
}
