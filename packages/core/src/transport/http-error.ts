/** A failed response as a typed error: what the server said, in words, with what a program needs to act on it. */
import { BowlineError, type ErrorCode } from "../errors.ts";
import { retryAfterMs } from "./retry.ts";

const MAX_QUOTE = 500;

/** Words that make a 429 final: waiting will not help (Q225). */
const quotaWords =
  /insufficient_quota|billing|credit balance|exceeded your current quota|quota exceeded for (?:the )?(?:day|month)|daily limit|monthly limit|payment/i;
/** How servers say that a conversation is too long (Q243); throttling of tokens is not that. */
const overflowWords =
  /context_length_exceeded|context window|maximum context length|prompt is too long|input is too long|input token count .* exceeds|maximum prompt length|reduce the length of the messages|available context size|exceeded model token limit|longer than the model's context|too large for model with/i;
const throttleWords = /rate limit|too many requests|please wait|throttl/i;

export interface ResponseFacts {
  readonly status: number;
  readonly headers: Headers;
  /** The body as text. */
  readonly body: string;
  readonly url: string;
  readonly now: number;
}

/** The error of a response that is not 2xx. */
export function errorOfResponse({ status, headers, body, url, now }: ResponseFacts): BowlineError {
  const said = messageOfBody(body) ?? htmlTitle(body);
  const code = codeOf(status, said ?? "");
  const delay = retryAfterMs(headers, body, now);
  const requestId = headers.get("x-request-id") ?? headers.get("request-id") ?? undefined;
  return new BowlineError(code, `${describe(code, status, url)}${said === undefined ? "" : `: ${said}`}`, {
    status,
    retryable: isRetryable(status, code, headers),
    ...(delay !== undefined && { retryAfterMs: delay }),
    ...(requestId !== undefined && { requestId }),
  });
}

/** The error of an envelope inside a stream; `status` is the envelope's own, when it has one (Q100, Q139). */
export function errorOfEnvelope(envelope: unknown, status?: number): BowlineError {
  const message = messageIn(envelope) ?? quote(JSON.stringify(envelope) ?? "an empty error");
  const known = status ?? statusIn(envelope);
  const code = codeOf(known, `${message} ${typeIn(envelope)}`);
  return new BowlineError(code, `The server reported an error in the stream: ${message}`, {
    ...(known !== undefined && { status: known }),
    retryable: isRetryable(known, code),
  });
}

/** The readable part of an error body, whatever shape the server gave it (Q102); undefined for HTML and for nothing. */
export function messageOfBody(body: string): string | undefined {
  const text = body.trim();
  if (text === "" || text.startsWith("<")) return undefined;
  try {
    return messageIn(JSON.parse(text)) ?? quote(text);
  } catch {
    return quote(text); // plain text is its own message
  }
}

/** The title of an HTML page, which is what a proxy, a captive portal or a wrong URL answers with (Q022). */
export function htmlTitle(body: string): string | undefined {
  if (!body.trimStart().startsWith("<")) return undefined;
  const title = /<title[^>]*>([^<]*)</i.exec(body)?.[1]?.trim();
  return title === undefined || title === "" ? "an HTML page" : `an HTML page titled "${quote(title)}"`;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : quote(value);
  if (Array.isArray(value)) return messageIn(value[0]);
  if (typeof value !== "object" || value === null) return undefined;
  const { error, message, detail, errors, msg } = value as Record<string, unknown>;
  return messageIn(error) ?? messageIn(message) ?? messageIn(detail) ?? messageIn(errors) ?? messageIn(msg);
}

function statusIn(value: unknown): number | undefined {
  const { error, code, status, type } = (value ?? {}) as Record<string, unknown>;
  for (const candidate of [code, status]) {
    const number = Number(candidate);
    if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  }
  if (typeof type === "string" && Object.hasOwn(statusOfType, type)) return statusOfType[type];
  return typeof error === "object" && error !== null ? statusIn(error) : undefined;
}

/** Anthropic names the status by type. */
const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function typeIn(value: unknown): string {
  const { error, type, code } = (value ?? {}) as Record<string, unknown>;
  const own = [type, code].filter((field) => typeof field === "string").join(" ");
  return typeof error === "object" && error !== null ? `${own} ${typeIn(error)}` : own;
}

function codeOf(status: number | undefined, said: string): ErrorCode {
  if (overflowWords.test(said) && !throttleWords.test(said)) return "context_overflow";
  switch (status) {
    case 401:
      return "authentication_failed";
    case 402:
      return "quota_exceeded";
    case 403:
      return "permission_denied";
    case 404:
      return "not_found";
    case 413:
      return "request_too_large";
    case 429:
      return quotaWords.test(said) ? "quota_exceeded" : "rate_limited";
    case 529:
      return "overloaded";
    case undefined:
      return "server_error";
    default:
      if (status >= 500) return /overloaded/i.test(said) ? "overloaded" : "server_error";
      return status === 408 ? "timeout" : "invalid_request";
  }
}

function isRetryable(status: number | undefined, code: ErrorCode, headers?: Headers): boolean {
  const told = headers?.get("x-should-retry");
  if (told === "true") return true;
  if (told === "false") return false;
  if (code === "quota_exceeded" || code === "context_overflow") return false;
  // An in-stream error without a status comes from behind a gateway that had accepted the request.
  if (status === undefined) return code === "server_error";
  return [408, 409, 425, 429, 500, 502, 503, 504, 529].includes(status) || (status >= 520 && status <= 524);
}

function describe(code: ErrorCode, status: number, url: string): string {
  if (code === "authentication_failed") return `The server at ${url} refused the API key (HTTP 401)`;
  if (code === "not_found") return `Nothing at ${url} (HTTP 404): check the base URL and the model's name`;
  return `The server at ${url} answered HTTP ${status}`;
}

function quote(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > MAX_QUOTE ? `${flat.slice(0, MAX_QUOTE)}…` : flat;
}
