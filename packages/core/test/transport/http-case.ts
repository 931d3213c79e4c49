/** One HTTP test case: what the server sends, and the expected outcome of the call. */
import type { ErrorInfo } from "../../src/errors.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { http, type Answer } from "./http-server.ts";

export type Wire = "openai-chat" | "anthropic-messages" | "openai-responses" | "google-generate";

export interface HttpCase {
  /** Begins with the number of the quirk. */
  readonly name: string;
  /** The last one also answers all further requests. */
  readonly answers: readonly Answer[];
  /** Default `openai-chat`. */
  readonly wire?: Wire;
  readonly options?: StreamOptions;
  /** The part of the URL before the wire's own path. Default `/v1`. */
  readonly path?: string;
  /** The caller aborts while the server is silent, or while the call waits for a retry. */
  readonly abort?: "stall" | "retry";
  /** Requests that reach the server. */
  readonly attempts: number;
  /**
   * Before each retry, in milliseconds. Default: none. With `random` always 0.5, a wait without a
   * hint is half of its maximum.
   */
  readonly waits?: readonly number[];
  /** The duration of the whole call. Not checked when absent. */
  readonly elapsedMs?: number;
  /** Each retry requests and gets a new connection. */
  readonly fresh?: true;
  /** The text of the message, also of a failed one. */
  readonly text: string;
  /** The expected error; `message` must match its text. Absent: the call succeeds. */
  readonly error?: Omit<ErrorInfo, "message"> & { readonly message?: RegExp };
}

/** The date of every case: 21 November 2026, 10:00 in UTC, a Saturday. */
export const now = Date.UTC(2026, 10, 21, 10);

export const asJson = { "content-type": "application/json" };
export const asEvents = { "content-type": "text/event-stream" };

export const data = (...events: readonly (object | string)[]): string =>
  events
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");

export const say = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
export const finish = (reason = "stop"): object => ({
  choices: [{ index: 0, delta: {}, finish_reason: reason }],
});

/** A whole streamed answer, "Hello." */
export const hello: Answer = http(200, asEvents, data(say("Hello."), finish(), "[DONE]"));
/** The same answer without streaming. */
export const wholeHello = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
});
/** A whole answer without content. */
export const empty: Answer = http(200, asEvents, data(finish(), "[DONE]"));

export const refused = (
  status: number,
  headers: Record<string, string> = {},
  message = "No.",
): Answer => http(status, { ...asJson, ...headers }, JSON.stringify({ error: { message } }));
