/** One case of HTTP: what the server sends, and what the call must come to. */
import type { ErrorInfo } from "../../src/errors.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { http, type Answer } from "./http-server.ts";

export type Wire = "openai-chat" | "anthropic-messages" | "openai-responses" | "google-generate";

export interface HttpCase {
  /** Begins with the number of the quirk. */
  readonly name: string;
  /** The last one answers the rest. */
  readonly answers: readonly Answer[];
  /** Default `openai-chat`. */
  readonly wire?: Wire;
  readonly options?: StreamOptions;
  /** Up to the wire's own path. Default `/v1`. */
  readonly path?: string;
  /** The caller aborts when the server is silent, or when the call waits before its next try. */
  readonly abort?: "stall" | "retry";
  /** Requests that reach the server. */
  readonly attempts: number;
  /**
   * Before each further try, in milliseconds. Default: none. With `random` always 0.5, a wait
   * without a hint is half its most.
   */
  readonly waits?: readonly number[];
  /** The time the whole call takes. Not looked at when absent. */
  readonly elapsedMs?: number;
  /** Each further try asks for a connection of its own and has one. */
  readonly fresh?: true;
  /** The text of the message, of a failed one too. */
  readonly text: string;
  /** How it ended badly; `message` is what must be said. Absent: it ended well. */
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

/** A whole answer that says "Hello." */
export const hello: Answer = http(200, asEvents, data(say("Hello."), finish(), "[DONE]"));
/** The same in one piece, as if no stream had been asked for. */
export const wholeHello = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
});
/** A whole answer without anything in it. */
export const empty: Answer = http(200, asEvents, data(finish(), "[DONE]"));

export const refused = (
  status: number,
  headers: Record<string, string> = {},
  message = "No.",
): Answer => http(status, { ...asJson, ...headers }, JSON.stringify({ error: { message } }));
