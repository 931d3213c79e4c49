/** What a client's request comes to when it does not come to a result. */
import { errorNumbers, type FrameError } from "./frame.ts";

/** A request that was refused, or that got no answer because the connection was lost: then `code` is `connection_lost`. */
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

function nameOf(code: number): string {
  return Object.entries(errorNumbers).find(([, number]) => number === code)?.[0] ?? "internal";
}
