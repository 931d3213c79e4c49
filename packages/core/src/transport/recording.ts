/** Requests to a server and its responses, as JSON-safe data without secrets. */
import { BowlineError, isBowlineError, toErrorInfo, type ErrorInfo } from "../errors.ts";
import { isRecord, list } from "../json-value.ts";
import { fromLatin1, latin1 } from "./redact.ts";

/** Bytes, as text if they are valid UTF-8, otherwise as base64. */
export type RecordedBytes = string | { readonly base64: string };

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** For human readers. Headers are not compared. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent when there was no body. */
  readonly body?: RecordedBytes;
}

export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, in the chunks in which it arrived. */
  readonly chunks: readonly RecordedBytes[];
}

/** The error that `fetch` rejected with, or that broke the body. */
export interface RecordedFailure {
  readonly name: string;
  readonly message: string;
  /** The cause that Node reports, such as ECONNREFUSED. */
  readonly cause?: { readonly message: string; readonly code?: string };
  /** Set for a `BowlineError`, such as an expired time limit. */
  readonly error?: ErrorInfo;
}

export interface RecordedExchange {
  readonly request: RecordedRequest;
  /** Absent when no response arrived. */
  readonly response?: RecordedResponse;
  /** The failure, after the chunks of the response if there are any. */
  readonly failure?: RecordedFailure;
  /** Set when the reader left, or the recording was taken, before the end. */
  readonly incomplete?: true;
}

export interface Recording {
  readonly version: 1;
  /** The exchanges, in the order of their requests. */
  readonly exchanges: readonly RecordedExchange[];
}

/** Throws `invalid_argument` if `value` is not a valid recording of this version. */
export function assertRecording(value: unknown): asserts value is Recording {
  const { version, exchanges } = isRecord(value) ? value : {};
  if (version !== 1) {
    const found =
      version === undefined ? "has no version" : `has version ${JSON.stringify(version)}`;
    throw new BowlineError(
      "invalid_argument",
      `The recording ${found}. Only version 1 can be played back.`,
    );
  }
  const wrong = Array.isArray(exchanges)
    ? exchanges.findIndex((exchange) => !isExchange(exchange))
    : 0;
  if (wrong >= 0)
    throw new BowlineError("invalid_argument", `Exchange ${wrong} of the recording is not valid.`);
}

function isExchange(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.request)) return false;
  const { request, response } = value;
  if (typeof request.method !== "string" || typeof request.url !== "string") return false;
  if (request.body !== undefined && !isBytes(request.body)) return false;
  if (response === undefined) return true;
  if (!isRecord(response) || typeof response.status !== "number" || !isRecord(response.headers))
    return false;
  return Array.isArray(response.chunks) && list(response.chunks).every(isBytes);
}

function isBytes(value: unknown): boolean {
  return typeof value === "string" || (isRecord(value) && typeof value.base64 === "string");
}

export function toRecordedBytes(bytes: Uint8Array): RecordedBytes {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: btoa(latin1(bytes)) }; // a chunk may end within a character
  }
}

export function fromRecordedBytes(bytes: RecordedBytes): Uint8Array {
  return typeof bytes === "string"
    ? new TextEncoder().encode(bytes)
    : fromLatin1(atob(bytes.base64));
}

export function toRecordedFailure(
  thrown: unknown,
  redact: (text: string) => string,
): RecordedFailure {
  const { name, message, cause } = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { message: why, code } = isRecord(cause) ? cause : {};
  return {
    name,
    message: redact(message),
    ...((typeof why === "string" || typeof code === "string") && {
      cause: {
        message: redact(typeof why === "string" ? why : ""),
        ...(typeof code === "string" && { code }),
      },
    }),
    ...(isBowlineError(thrown) && { error: { ...toErrorInfo(thrown), message: redact(message) } }),
  };
}

/** Returns an error with the recorded name, message and cause. */
export function fromRecordedFailure({ name, message, cause, error }: RecordedFailure): Error {
  if (error) return new BowlineError(error.code, error.message, error);
  if (name === "AbortError" || name === "TimeoutError") return new DOMException(message, name);
  const options = cause && {
    cause: Object.assign(new Error(cause.message), { code: cause.code }),
  };
  const made = name === "TypeError" ? new TypeError(message, options) : new Error(message, options);
  return Object.assign(made, { name });
}
