/** The error of a client's request. */
import { errorNumbers, type FrameError } from "../protocol/frame.ts";

/**
 * A request that was refused, or that got no response because the connection was lost or closed. In
 * the second case `code` is `connection_lost`.
 */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: string;
  readonly number: number;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor({ code, message, data }: FrameError) {
    super(message);
    this.number = code;
    this.code = data?.code ?? nameOf(code);
    this.retryable = data?.retryable ?? false;
    this.retryAfterMs = data?.retryAfterMs;
  }
}

/** Creates an error that the client raises itself. */
export function refusal(
  code: "bad_request" | "connection_lost",
  message: string,
  retryable = false,
): RequestError {
  const number = errorNumbers[code === "bad_request" ? code : "internal"];
  return new RequestError({ code: number, message, data: { code, retryable } });
}

function nameOf(code: number): string {
  return Object.entries(errorNumbers).find(([, number]) => number === code)?.[0] ?? "internal";
}
