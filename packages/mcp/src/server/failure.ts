/** Turns what the client library throws into errors with codes, and messages for a model. */
import {
  BowlineError,
  isBowlineError,
  toErrorInfo,
  type ErrorCode,
  type ErrorInfo,
} from "@bowline/core";
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { CUT } from "./open-requests.ts";
import { cutText } from "../cut-text.ts";

const MAX_MESSAGE = 2_000;
const MAX_FAULT = 500;

/** Whether the server wants an authorization that is not there. */
export function isUnauthorized(error: unknown): boolean {
  return (
    UnauthorizedError.isInstance(error) ||
    (SdkHttpError.isInstance(error) && error.data.status === 401)
  );
}

/** Whether a remote server answered with a status that is an error. */
export function isRefused(error: unknown): boolean {
  return SdkHttpError.isInstance(error);
}

/** Whether the server answered the request with an error. Then it did not run, or said so itself. */
function isAnswer(error: unknown): error is ProtocolError {
  return ProtocolError.isInstance(error);
}

/** Whether the answer came and does not fit the protocol. */
function isBadAnswer(error: unknown): boolean {
  return (
    SdkError.isInstance(error) &&
    (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType)
  );
}

/** Whether a remote server has to be connected again: it is not there, or forgot the session. */
export function isLost(error: unknown): boolean {
  if (SdkHttpError.isInstance(error)) return error.data.status === 404;
  if (SdkError.isInstance(error)) return error.code === SdkErrorCode.ConnectionClosed;
  return error instanceof TypeError; // as fetch fails
}

/** Returns the error as data, without secrets. */
export function toInfo(error: unknown, redact: (text: string) => string): ErrorInfo {
  if (isBowlineError(error)) return toErrorInfo({ ...error.toJSON(), message: say(error, redact) });
  return toErrorInfo(new BowlineError(codeOf(error), say(error, redact)));
}

/** Returns the error's message, with those of its causes, bounded and without secrets. */
export function say(error: unknown, redact: (text: string) => string): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 3; at = at.cause) {
    const { message } = at;
    if (message !== "" && !parts.some((part) => part.includes(message))) parts.push(message);
  }
  const joined = parts.map((part, at) => (at < parts.length - 1 ? part.replace(/\.$/, "") : part));
  // Cut before and after: a message may be as long as the longest that a server may send.
  const text = joined.join(": ").slice(0, 10 * MAX_MESSAGE) || String(error);
  return cutText(redact(text), MAX_MESSAGE);
}

/**
 * Returns the error of a request that was sent, with a message for the model: whether it may have
 * taken effect. `what` begins the message. It has no cause: that would hold what the server sent,
 * secrets too.
 */
export function explain(
  what: string,
  error: unknown,
  redact: (text: string) => string,
): BowlineError {
  const said = say(error, redact);
  const whole = (text: string): BowlineError =>
    new BowlineError(toInfo(error, redact).code, `${what}: ${text}`);
  const isCut = isAnswer(error) && error.code === CUT;
  if (isAnswer(error) && !isCut) return whole(`the server refused: ${said}`);
  if (isBadAnswer(error))
    return whole(`it ran, and its answer is not valid: ${faultOf(error, redact) ?? said}`);
  if (isUnauthorized(error)) return whole(`not run: the server wants an authorization: ${said}`);
  const unknown = "It is unknown whether it took effect, and it is not repeated by itself.";
  return whole(`${said.replace(/\.$/, "")}. ${unknown}`);
}

/** The first fault of an answer. The client library writes all of them as JSON. */
function faultOf(error: unknown, redact: (text: string) => string): string | undefined {
  const { message } = error as Error;
  const [list] = /\[\s*\{[^]*\}\s*\]$/.exec(message) ?? [];
  if (list === undefined) return undefined;
  try {
    const [{ path, message: text }] = JSON.parse(list) as [{ path: unknown[]; message: string }];
    return cutText(redact(`${path.join(".") || "it"}: ${text}`), MAX_FAULT);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): ErrorCode {
  if (isUnauthorized(error)) return "authentication_failed";
  if (SdkHttpError.isInstance(error)) {
    const { status } = error.data;
    if (status === 403) return "permission_denied";
    if (status === 404) return "not_found";
    return status >= 500 ? "server_error" : "invalid_request";
  }
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout) return "timeout";
  if (isBadAnswer(error) || isAnswer(error)) return "unexpected_response";
  return "connection_failed";
}
