/**
 * A model is data: where it is, which wire it speaks, what it can do. Unknown facts are absent, and
 * nothing here is a registry.
 */
import type { Clock } from "../clock.ts";
import type { JsonSchema } from "../json-value.ts";
import type { Compat } from "./compat.ts";
import type { EventStream } from "./stream.ts";
import type { AssistantMessage, Context } from "./message.ts";
import type { AssistantMessageEvent } from "./event.ts";
import type { Prices } from "./usage.ts";

export type { Compat, Dialect } from "./compat.ts";

/**
 * How hard the model should think; `off` asks for none. Where a server knows no such level, the
 * nearest below it is asked for.
 */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface Model<TApi extends string = string> {
  /** The id the server knows. */
  id: string;
  /** For display. */
  name: string;
  /**
   * The wire protocol: `openai-chat`, `anthropic-messages`, `openai-responses`, `google-generate`,
   * or one of yours.
   */
  api: TApi;
  /** The vendor: a row of `vendors`, or any name of yours. */
  provider: string;
  /**
   * Up to, not including, the protocol's own path (`/chat/completions`, `/messages`). Never changed
   * silently.
   */
  // Q135
  baseUrl: string;
  /** Whether the model can think; without it no thinking option is sent. */
  reasoning: boolean;
  input: ("text" | "image")[];
  /** US dollars for a million tokens. */
  cost?: Prices;
  /** Tokens. */
  contextWindow?: number;
  /** The most tokens one answer may have. */
  maxTokens?: number;
  headers?: Record<string, string>;
  /**
   * What this server wants otherwise than its protocol's reference; every switch has a safe
   * default.
   */
  compat?: Compat;
}

/** Tokens to think with, for servers that take a budget. */
export interface ThinkingBudgets {
  minimal?: number | undefined;
  low?: number | undefined;
  medium?: number | undefined;
  high?: number | undefined;
  xhigh?: number | undefined;
  max?: number | undefined;
}

/**
 * Limits on time, in milliseconds; 0 turns one off. A limit that fires is a retryable `timeout`,
 * not an abort.
 */
// Q234, Q235
export interface StreamTimeouts {
  /**
   * From the request to the response's headers. Default 600,000: local models read long prompts
   * slowly. Node's own fetch gives up connecting after 10 s, waiting for headers after 300 s; that
   * of `@bowline/core/undici` waits longer.
   */
  // Q236
  firstByteMs?: number | undefined;
  /** Between two chunks of any bytes, keep-alives included. Default 120,000. */
  idleMs?: number | undefined;
  /** Between two events that carry payload. Default 300,000. */
  progressMs?: number | undefined;
  /**
   * Of one model call with all its tries and the waits between them, until the answer is whole;
   * what came is kept. Nothing is tried again that would begin after it. Default 0: none, since an
   * answer may be long as long as it comes.
   */
  totalMs?: number | undefined;
}

/** What an answer has to be. */
export interface OutputFormat {
  /** Of an object, as `toJsonSchema` gives it. */
  schema: JsonSchema;
  /**
   * What the model and the server call it: letters, digits, `_` and `-`, up to 64. Default
   * `answer`.
   */
  name?: string | undefined;
  /** OpenAI's strict mode. Default: on where the schema qualifies. */
  // Q117
  strict?: boolean | undefined;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** What was asked for is not to be had of the model's server, and a request goes out with less. */
export interface RequestWarning {
  readonly code: "tool_choice_weakened";
  readonly message: string;
}

/** Options of one model call. Everything is optional and nothing is read from the environment. */
export interface StreamOptions {
  signal?: AbortSignal | undefined;
  /** Sent as the protocol asks; trimmed; no key, no header. */
  // Q136
  apiKey?: string | undefined;
  temperature?: number | undefined;
  /**
   * The most tokens to generate. Default: the server's; on anthropic-messages the model's
   * `maxTokens`, else 8,192. Below 16 it is 16 on openai-responses, which takes no less.
   */
  maxTokens?: number | undefined;
  /** How hard to think; absent asks for no thinking. */
  reasoning?: Exclude<ThinkingLevel, "off"> | undefined;
  thinkingBudgets?: ThinkingBudgets | undefined;
  /** Where the server takes less, less is asked for, and {@link onWarning} hears of it. */
  // Q112
  toolChoice?: ToolChoice | undefined;
  /**
   * Holds the answer to a schema, where `supportsOutput`; left out elsewhere. What comes back
   * is text: parse and check it.
   */
  output?: OutputFormat | undefined;
  /** Forwarded for prompt caching where the server knows such a thing. */
  sessionId?: string | undefined;
  /**
   * Prompt caching on wires that mark it (Anthropic); with `none` no wire sends {@link sessionId}
   * for it. Default `short`.
   */
  cacheRetention?: "none" | "short" | "long" | undefined;
  metadata?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Merged over the request body last. Its `tools` are sent behind those of the agent. */
  extraBody?: Record<string, unknown> | undefined;
  timeouts?: StreamTimeouts | undefined;
  /**
   * Further tries after a failure before any output. Default 2. Answers that are empty or hold a
   * botched call, and with {@link retryAfterOutput} those that were cut off, have a budget of
   * their own, at most 2 of these: each costs the whole prompt.
   */
  // Q092
  maxRetries?: number | undefined;
  /**
   * The longest time, in milliseconds, from the first failure of the call to the beginning of its
   * last try. Set it with a large {@link maxRetries} to retry for a time instead of a number of
   * tries. 0 is no limit. Default 0.
   */
  maxRetryTimeMs?: number | undefined;
  /**
   * Also ask again after output was shown: it is withdrawn with a `message_retract` event first. No
   * tool of the turn has started by then. Default false.
   */
  retryAfterOutput?: boolean | undefined;
  /**
   * The longest wait, in milliseconds, that a server may ask for; above it the call fails at once
   * and says so. Default 60,000; 0 is no cap.
   */
  maxRetryDelayMs?: number | undefined;
  /**
   * Sees the request body, and may return another. May be async; a throw fails the call with
   * `hook_failed`.
   */
  onPayload?: ((payload: Record<string, unknown>, model: Model) => unknown) | undefined;
  /**
   * Sees status and headers of each response. May be async; a throw fails the call with
   * `hook_failed`.
   */
  onResponse?:
    | ((response: { status: number; headers: Record<string, string> }, model: Model) => unknown)
    | undefined;
  /**
   * Hears of each request that goes out with less than was asked for. Not waited for, and what it
   * throws is lost.
   */
  onWarning?: ((warning: RequestWarning, model: Model) => unknown) | undefined;
  /**
   * The longest event, and the longest answer that is no stream, in UTF-16 units; a stream may have
   * four times as much in all its events. What is longer is `stream_corrupt`. Default 32 Mi.
   */
  // Q029
  maxEventLength?: number | undefined;
  /**
   * The most that the texts, thoughts and arguments of one answer have together, in UTF-16 units.
   * What is longer is `stream_corrupt`. Default 16 Mi.
   */
  maxAnswerLength?: number | undefined;
  /**
   * Default: the global `fetch`. `createUndiciFetch` of `@bowline/core/undici` costs less, and
   * limits only connecting.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** Default: the system's clock. */
  clock?: Clock | undefined;
  /**
   * Makes ids, each another one: of runs, and of calls that came without. Default: random UUIDs.
   */
  createId?: (() => string) | undefined;
  /** From 0 up to 1, for the jitter of waits. Default: `Math.random`. */
  random?: (() => number) | undefined;
}

/** What a stream function returns: events in order, the last one `done` or `error`. */
export interface AssistantMessageStream extends AsyncIterable<AssistantMessageEvent> {
  /**
   * Several events at a time, as they came off the network; the loop prefers it where it is
   * offered.
   */
  batches?(): AsyncIterable<readonly AssistantMessageEvent[]>;
}

/** Our own streams: also a promise of the final message, which never rejects. */
export type AssistantMessageEventStream = EventStream<AssistantMessageEvent, AssistantMessage>;

/**
 * One model call. Failures are an `error` event with the final message. One that throws, rejects,
 * or ends without a terminal event breaks the contract; the loop ends the run with
 * `stream_function_failed` or `stream_truncated` instead of hanging.
 */
export type StreamFn = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => AssistantMessageStream | Promise<AssistantMessageStream>;
