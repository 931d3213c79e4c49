/** What was said to a server and what it answered, as data. JSON-safe, and without secrets. */
import { BowlineError, isBowlineError, toErrorInfo, type ErrorInfo } from "../errors.ts";
import { isRecord, list } from "../json-value.ts";
import { fromLatin1, latin1 } from "./redact.ts";

/** Bytes: as text where they are UTF-8, otherwise in base64. */
export type RecordedBytes = string | { readonly base64: string };

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** For a reader; they are not compared. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent when there was none. */
  readonly body?: RecordedBytes;
}

export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, cut as it came. */
  readonly chunks: readonly RecordedBytes[];
}

/** What `fetch` rejected with, or what broke the body. */
export interface RecordedFailure {
  readonly name: string;
  readonly message: string;
  /** Node's reason, such as ECONNREFUSED. */
  readonly cause?: { readonly message: string; readonly code?: string };
  /** When it was one of our own errors, such as a time limit. */
  readonly error?: ErrorInfo;
}

export interface RecordedExchange {
  readonly request: RecordedRequest;
  /** Absent when none came. */
  readonly response?: RecordedResponse;
  /** What went wrong, after the response's chunks if there are any. */
  readonly failure?: RecordedFailure;
  /** The reader left before the end, or the recording was taken before it. */
  readonly incomplete?: true;
}

export interface Recording {
  readonly version: 1;
  /** In the order of the requests. */
  readonly exchanges: readonly RecordedExchange[];
}

/** Throws `invalid_argument` for what is no recording of this version. */
export function assertRecording(value: unknown): asserts value is Recording {
  const { version, exchanges } = isRecord(value) ? value : {};
  if (version !== 1) {
    const found =
      version === undefined ? "has no version" : `has version ${JSON.stringify(version)}`;
    throw new BowlineError("invalid_argument", `The recording ${found}; this one reads version 1.`);
  }
  const wrong = Array.isArray(exchanges)
    ? exchanges.findIndex((exchange) => !isExchange(exchange))
    : 0;
  if (wrong >= 0)
    throw new BowlineError("invalid_argument", `The recording's exchange ${wrong} is none.`);
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
    return { base64: btoa(latin1(bytes)) }; // a chunk may end inside a character
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

/** An error that reads like the recorded one. */
export function fromRecordedFailure({ name, message, cause, error }: RecordedFailure): Error {
  if (error) return new BowlineError(error.code, error.message, error);
  if (name === "AbortError" || name === "TimeoutError") return new DOMException(message, name);
  const reason =
    cause === undefined ? undefined : Object.assign(new Error(cause.message), { code: cause.code });
  const options = reason === undefined ? undefined : { cause: reason };
  const made = name === "TypeError" ? new TypeError(message, options) : new Error(message, options);
  return Object.assign(made, { name });
}
