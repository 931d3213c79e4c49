/** A question to a server, its answer, and what went wrong with it. */
import type {
  AssistantMessage,
  Compat,
  Context,
  ErrorCode,
  Message,
  StreamOptions,
} from "@bowline/core";
import type { Exchange } from "./exchange.ts";
import type { WireAnswer } from "./wire.ts";

export interface Question extends Pick<
  StreamOptions,
  "maxTokens" | "temperature" | "reasoning" | "toolChoice" | "extraBody" | "apiKey"
> {
  /** A name of the test, for progress messages. */
  readonly about: string;
  readonly messages: readonly (Message | string)[];
  readonly tools?: Context["tools"];
  /** Overrides the settings found so far. */
  readonly compat?: Compat;
  readonly model?: string;
}

export interface Reply {
  /** The answer as Bowline read it. */
  readonly message: AssistantMessage;
  /** The answer as the server wrote it. */
  readonly wire: WireAnswer;
  readonly exchange: Exchange | undefined;
}

const refusals: ReadonlySet<ErrorCode> = new Set([
  "invalid_request",
  "not_found",
  "server_error",
  "request_too_large",
  "context_overflow",
  "unexpected_response",
]);

/**
 * Returns true if the server refused the request, as opposed to being busy, slow, unreachable or
 * refusing the key.
 */
export function isRefused({ message: { error } }: Reply): boolean {
  return error !== undefined && refusals.has(error.code);
}

/** Describes the error on one line, without the address, which is at the top of the report. */
export function whatWentWrong({ message: { error, errorMessage } }: Reply): string {
  const text = error?.message ?? errorMessage ?? "an unknown error";
  const short = text
    .replace(/^The server at \S+ answered (HTTP \d+)/, "$1")
    .replace(/^The server reported an error in the stream: /, "")
    .replace(/\.$/, "");
  return short.length > 240 ? `${short.slice(0, 239)}…` : short;
}
