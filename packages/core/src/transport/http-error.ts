/** A failed response as a typed error: what the server said, in words, with what a program needs to act on it. */
import { BowlineError, type ErrorCode } from "../errors.ts";
import { asRecord, asText, defined, parseJson } from "../json-value.ts";
import { retryAfterMs } from "./retry.ts";

const MAX_QUOTE = 500;

/** Words that make a 429 final: waiting will not help (Q225). */
const quotaWords =
  /insufficient_quota|billing|payment|credit balance|current quota|(?:dai|month)ly limit|for (?:the )?(?:day|month)|usage limit|PerDay/i;
/** How servers say that a conversation is too long (Q243); throttling of tokens is not that. */
const overflowWords =
  /context[ _]?(?:length|window|size)|model's context|(?:prompt|input) (?:is too long|token count)|(?:maximum prompt|allowed input|range of input|prompt exceeds max) length|length of the messages|model token limit|tokens to keep|input length .* exceeds/i;
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
  const tell = (code: ErrorCode): string => describe(code, status, url) + (said === undefined ? "" : `: ${said}`);
  return toError({ status, headers, body, now }, headers.get("x-should-retry"), tell);
}

/** The error of an envelope inside a stream, with the envelope's own status when it has one (Q100, Q139). */
export function errorOfEnvelope(envelope: unknown, status: number | undefined = statusIn(envelope)): BowlineError {
  const body = JSON.stringify(envelope) ?? "";
  // A model that botched its own call may do better next time (Q104).
  const told = body.includes('"tool_use_failed"') ? "true" : null;
  const said = messageIn(envelope) ?? quote(body);
  const tell = (): string => `The server reported an error in the stream: ${said}`;
  return toError({ status, headers: new Headers(), body, now: 0 }, told, tell);
}

function toError(
  { status, headers, body, now }: Omit<ResponseFacts, "status" | "url"> & { readonly status: number | undefined },
  told: string | null,
  tell: (code: ErrorCode) => string,
): BowlineError {
  const delay = retryAfterMs(headers, body, now);
  const code = codeOf(status, body, delay);
  const facts = {
    status,
    retryable: isRetryable(status, code, told),
    retryAfterMs: delay,
    requestId: headers.get("x-request-id") ?? headers.get("request-id") ?? undefined,
  };
  return new BowlineError(code, tell(code), defined(facts));
}

/** The readable part of an error body, whatever shape the server gave it (Q102); undefined for HTML and for nothing. */
function messageOfBody(body: string): string | undefined {
  const text = body.trim();
  if (text === "" || text.startsWith("<")) return undefined;
  return messageIn(parseJson(text)) ?? quote(text); // plain text is its own message
}

/** The title of an HTML page, which is what a proxy, a captive portal or a wrong URL answers with (Q022). */
export function htmlTitle(body: string): string | undefined {
  if (!body.trimStart().startsWith("<")) return undefined;
  const title = /<title[^>]*>\s*([^<]+)/i.exec(body)?.[1];
  return title === undefined ? "an HTML page" : `an HTML page titled "${quote(title)}"`;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : quote(value);
  if (Array.isArray(value)) return messageIn(value[0]);
  const { error, message, detail, errors, msg } = asRecord(value);
  for (const candidate of [error, message, detail, errors, msg]) {
    const found = candidate === undefined ? candidate : messageIn(candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The status an envelope names, by number, type or code, at any depth of `error`. */
function statusIn(value: unknown): number | undefined {
  if (Array.isArray(value)) return statusIn(value[0]);
  const { error, type, code, status, statusCode } = asRecord(value);
  const number = [code, status, statusCode].map(Number).find((candidate) => candidate >= 400 && candidate < 600);
  const name = [type, code].find((word) => Object.hasOwn(statusOfName, asText(word)));
  return number ?? statusOfName[asText(name)] ?? (error === undefined ? undefined : statusIn(error));
}

/** Names that stand for a status: Anthropic's types, OpenAI's codes. */
const statusOfName: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const codeOfStatus: Record<number, ErrorCode> = {
  401: "authentication_failed",
  402: "quota_exceeded",
  403: "permission_denied",
  404: "not_found",
  408: "timeout",
  413: "request_too_large",
};

/** `body` as it came: codes say more than messages. A 429 with a delay will pass, whatever it says of quotas (Q216). */
function codeOf(status: number | undefined, body: string, delay: number | undefined): ErrorCode {
  if (overflowWords.test(body) && !throttleWords.test(body)) return "context_overflow";
  if (status === 429)
    return quotaWords.test(body) && (delay === undefined || /PerDay/.test(body)) ? "quota_exceeded" : "rate_limited";
  if (status !== undefined && status < 500) return codeOfStatus[status] ?? "invalid_request";
  return status === 529 || /overloaded/i.test(body) ? "overloaded" : "server_error";
}

function isRetryable(status: number | undefined, code: ErrorCode, told: string | null): boolean {
  if (told === "true" || told === "false") return told === "true"; // Q224
  if (code === "quota_exceeded" || code === "context_overflow") return false;
  // An in-stream error without a status comes from behind a gateway that had accepted the request.
  if (status === undefined) return true;
  return /^(?:408|409|425|429|50[0234]|52[012349])$/.test(`${status}`);
}

function describe(code: ErrorCode, status: number, url: string): string {
  const hint =
    { authentication_failed: " and refused the API key", not_found: ": check the base URL and the model's name" }[
      code as string
    ] ?? "";
  return `The server at ${url} answered HTTP ${status}${hint}`;
}

function quote(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > MAX_QUOTE ? `${flat.slice(0, MAX_QUOTE)}…` : flat;
}
