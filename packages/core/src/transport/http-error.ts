/**
 * Turns a failed response into a typed error: the server's message, and the facts that a program
 * needs to react.
 */
import { BowlineError, type ErrorCode } from "../errors.ts";
import { asRecord, asText, defined, list, parseJson } from "../json-value.ts";
import { retryAfterMs } from "./retry.ts";

/** Phrases that make a 429 final, because waiting does not help. */
// Q225
const quotaWords =
  /insufficient_quota|billing|payment|credit|current quota|(?:daily|monthly|usage|plan) limit|for (?:the )?(?:day|month)|"1308"|PerDay/i;
/** Phrases for a conversation that is too long. Messages about token rate limits are excluded. */
// Q243
const overflowWords =
  /context[ _]?(?:length|window|size)|(?:prompt|input) (?:(?:is )?too long|token count)|(?:prompt|input|prompt exceeds max) length|length of the messages|model token limit/i;
const throttleWords = /rate limit|too many requests|please wait/i;

/** Fields in which servers put the error message, the most specific first. */
const messageFields = [
  "error",
  "message",
  "detail",
  "errors",
  "msg",
  "error_msg",
  "error_message",
] as const;

/** How deep nested errors are searched for a message. */
const MAX_DEPTH = 20;

export interface ResponseFacts {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The names of the headers that were sent. */
  readonly sent: readonly string[];
  /** The body as text. */
  readonly body: string;
  readonly url: string;
  readonly model: string;
  readonly now: number;
}

/** Returns the error for a response that is not 2xx. */
export function errorOfResponse(facts: ResponseFacts): BowlineError {
  const { status, sent, body, url, model } = facts;
  const said =
    messageIn(parseJson(body)) ?? messageIn(body) ?? `no reason given, for the model "${model}"`; // Q242
  const hint =
    status === 401
      ? /auth|key/i.test(sent.join())
        ? " and refused the API key"
        : " (no apiKey was sent)"
      : status === 404
        ? " (check the base URL and the model's name)"
        : "";
  return toError(facts, `The server at ${url} answered HTTP ${status}${hint}: ${said}`);
}

/**
 * Returns the error for an error object inside a stream. Uses the status that the object names, if
 * any.
 */
// Q100, Q139
export function errorOfEnvelope(
  envelope: unknown,
  status: number | undefined = statusIn(envelope),
): BowlineError {
  const body = textOf(envelope);
  const said = messageIn(envelope) ?? messageIn(body);
  const isLost = /unexpected endpoint/i.test(body); // LM Studio answers any path with 200 (Q019)
  const facts = { status: isLost ? 404 : status, headers: {}, body, url: "", now: 0 };
  const hint = isLost ? " (is the /v1 of the base URL missing?)" : "";
  return toError(facts, `The server reported an error in the stream: ${said}${hint}`);
}

function textOf(envelope: unknown): string {
  try {
    return JSON.stringify(envelope) ?? "";
  } catch {
    return "an error that is nested too deep"; // JSON.stringify overflowed this engine's stack
  }
}

/**
 * Returns whether an event's `error` field reports a failure. Some servers send an empty one with
 * every answer.
 */
// Q100
export function isError(error: unknown): boolean {
  if (typeof error === "number" || typeof error === "boolean") return Boolean(error);
  // A string's characters count as keys, too.
  return error !== undefined && Object.keys(Object(error)).length > 0;
}

/**
 * Returns whether an object of unknown type reports a failure, in any of the shapes that servers
 * use.
 */
// Q102
export function isErrorObject(data: Readonly<Record<string, unknown>>): boolean {
  const { error, errors, detail, object, type, success, status, message, code, statusCode } = data;
  const ownCode = data.error_code ?? data.errorCode ?? data.error_msg ?? data.error_message;
  const isCoded = asText(message) !== "" && isFailureCode(statusCode ?? code);
  const words = [object, type, status].map(asText);
  return (
    [error, errors, detail].some(isError) ||
    isFailureCode(ownCode) ||
    success === false ||
    words.some((word) => /^(?:\w+_)?(?:error|failed|failure)$/i.test(word)) ||
    isCoded
  );
}

/** Returns whether a code reports a failure. Some servers send 0 or 200 for success. */
function isFailureCode(code: unknown): boolean {
  return isError(code) && !/^(?:0|2\d\d|ok|success)$/i.test(String(code));
}

type Facts = Omit<ResponseFacts, "status" | "model" | "sent"> & {
  readonly status: number | undefined;
};

function toError(facts: Facts, message: string): BowlineError {
  const { status, headers, body } = facts;
  const delay = retryAfterMs(facts);
  const code = codeOf(facts, delay);
  // A model that wrote an invalid tool call may succeed next time (Q104).
  const isBotched = body.includes('"tool_use_failed"');
  // An error inside a stream without a status comes from behind a gateway that accepted the
  // request.
  const mayPass =
    status === undefined || status >= 500 || [408, 409, 424, 425, 429].includes(status); // Q226
  const isFinal = code === "quota_exceeded" || code === "context_overflow";
  const told = headers["x-should-retry"]; // Q224
  const retryable = told === undefined ? isBotched || (mayPass && !isFinal) : told === "true";
  const requestId = headers["x-request-id"] ?? headers["request-id"];
  return new BowlineError(
    code,
    message,
    defined({ status, retryable, retryAfterMs: delay, requestId }),
  );
}

/**
 * Describes an HTML page by its title. Proxies, captive portals and wrong URLs answer with such
 * pages.
 */
// Q022
export function htmlTitle(body: string): string | undefined {
  if (!/^\s*</.test(body)) return undefined;
  const title = /<title[^>]*>\s*([^<]+)/i.exec(body)?.[1];
  return title ? `an HTML page titled "${quote(title)}"` : "an HTML page";
}

/** Returns the readable message of an error, whatever its shape. A string is its own message. */
// Q102
function messageIn(given: unknown, depth = 0): string | undefined {
  const value = depth > MAX_DEPTH ? undefined : first(given);
  if (typeof value === "string") return (htmlTitle(value) ?? quote(value)) || undefined;
  if (!value) return undefined;
  const fields = asRecord(value);
  const { raw } = asRecord(fields.metadata); // the error of the server behind OpenRouter
  const said = [parseJson(raw) ?? raw, ...messageFields.map((name) => fields[name])]
    .map((part) => messageIn(part, depth + 1))
    .find((text) => text);
  const where = list(fields.loc).filter(
    (part) => typeof part === "string" || typeof part === "number",
  ); // the place in the request (Q106)
  return said && where.length > 0 ? `${where.join(".")}: ${said}` : said;
}

/**
 * Returns the HTTP status that an error object names, by number, type or code, at any depth of
 * `error`.
 */
function statusIn(value: unknown, depth = 0): number | undefined {
  const { error, type, code, status, statusCode } = asRecord(first(value));
  return (
    [code, status, statusCode].map(Number).find((number) => number >= 400 && number < 600) ??
    statusOfName.get(type) ??
    statusOfName.get(code) ??
    (error && depth < MAX_DEPTH ? statusIn(error, depth + 1) : undefined)
  );
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

/** Error names that stand for a status: Anthropic's types, OpenAI's codes. */
const statusOfName = new Map<unknown, number>(
  Object.entries({
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
  }),
);

const codeOfStatus: Record<number, ErrorCode> = {
  401: "authentication_failed",
  402: "quota_exceeded",
  403: "permission_denied",
  404: "not_found",
  408: "timeout",
  413: "request_too_large",
};

/**
 * Searches the raw `body`, because codes are more precise than messages. A 429 with a delay is
 * temporary, even if it mentions a quota.
 */
// Q216
function codeOf({ status = 500, body, url }: Facts, delay: number | undefined): ErrorCode {
  // Cerebras sends an empty body if the conversation is too long (Q242).
  const isMute = body === "" && (status === 400 || status === 413) && url.includes("cerebras");
  if (isMute || (overflowWords.test(body) && !throttleWords.test(body))) return "context_overflow";
  if (status === 429) {
    const isFinal =
      quotaWords.test(body) && (delay === undefined || /insufficient_quota|PerDay/.test(body));
    return isFinal ? "quota_exceeded" : "rate_limited";
  }
  if (status < 500) return codeOfStatus[status] ?? "invalid_request";
  return status === 529 || /overloaded/i.test(body) ? "overloaded" : "server_error";
}

function quote(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
