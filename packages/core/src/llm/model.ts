/**
 * A model is plain data: its address, its wire protocol, its abilities. Unknown facts are absent,
 * and there is no registry.
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
 * How much the model should think; `off` disables thinking. If the server does not know a level,
 * the nearest lower one is sent.
 */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** A kind of input: see {@link Model.input}. */
export type InputKind = "text" | "image" | "pdf" | "audio" | "video";

export interface Model<TApi extends string = string> {
  /** The model's id on the server. */
  id: string;
  /** For display. */
  name: string;
  /**
   * The wire protocol: `openai-chat`, `anthropic-messages`, `openai-responses`, `google-generate`,
   * or your own.
   */
  api: TApi;
  /** The vendor: the id of a row of `vendors`, or any name you choose. */
  provider: string;
  /**
   * The URL without the protocol's own path (`/chat/completions`, `/messages`). It is used exactly
   * as given.
   */
  // Q135
  baseUrl: string;
  /** Whether the model can think. If false, no thinking option is sent. */
  reasoning: boolean;
  /**
   * What the model takes. Images and files of other kinds are replaced by a note. Text files and
   * JSON count as text.
   */
  input: InputKind[];
  /** In US dollars per million tokens. */
  cost?: Prices;
  /** The size of the context window, in tokens. */
  contextWindow?: number;
  /** The longest answer, in tokens. */
  maxTokens?: number;
  /** Sent with each request to this model. */
  headers?: Record<string, string>;
  /** How this server deviates from its protocol's reference. Every switch has a safe default. */
  compat?: Compat;
}

/** Thinking budgets in tokens, for servers that expect a budget. */
export interface ThinkingBudgets {
  /** Default 1,024 on anthropic-messages, 512 on google-generate. */
  minimal?: number | undefined;
  /** Default 2,048. */
  low?: number | undefined;
  /** Default 8,192. */
  medium?: number | undefined;
  /** Default 16,384. */
  high?: number | undefined;
  /** Default 32,768 on anthropic-messages, 24,576 on google-generate. */
  xhigh?: number | undefined;
  /** Default 64,000 on anthropic-messages, 24,576 on google-generate. */
  max?: number | undefined;
}

/**
 * Time limits in milliseconds; 0 disables a limit. When a limit expires, the call fails with a
 * retryable `timeout`, not as aborted.
 */
// Q234, Q235
export interface StreamTimeouts {
  /**
   * From the request to the response headers. Default 600,000. Local models read long prompts
   * slowly. Node's own `fetch` stops connecting after 10 s and waiting for headers after 300 s; the
   * one of `@bowline/core/undici` waits longer.
   */
  // Q236
  firstByteMs?: number | undefined;
  /** The time limit between two chunks of any kind, including keep-alives. Default 120,000. */
  idleMs?: number | undefined;
  /** The time limit between two events with content. Default 300,000. */
  progressMs?: number | undefined;
  /**
   * For the whole model call, including retries and the waits between them. Content received so far
   * is kept, and no retry starts after the limit. Default 0 (no limit), so that a long answer can
   * finish while data keeps arriving.
   */
  totalMs?: number | undefined;
}

/** The required shape of an answer. */
export interface OutputFormat {
  /** The schema of an object, as returned by `toJsonSchema`. */
  schema: JsonSchema;
  /**
   * The name that the model and the server see: letters, digits, `_` and `-`, up to 64 characters.
   * Default `answer`.
   */
  name?: string | undefined;
  /** Whether to use OpenAI's strict mode. Default: on if the schema qualifies. */
  // Q117
  strict?: boolean | undefined;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** The model's server does not support an option, and the request is sent with a weaker one. */
export interface RequestWarning {
  readonly code: "tool_choice_weakened";
  readonly message: string;
}

/** Options of one model call. All are optional. Nothing is read from the environment. */
export interface StreamOptions {
  /** Aborts the call, its retries and its waits. */
  signal?: AbortSignal | undefined;
  /**
   * The API key, sent in the header that the protocol defines. White space around it is removed.
   * Without a key, no header is sent. Default: none; `streamByProtocol` reads the vendor's
   * environment variable, for the vendor's own address.
   */
  // Q136
  apiKey?: string | undefined;
  /** The sampling temperature. Default: the server's. */
  temperature?: number | undefined;
  /**
   * The most tokens to generate. Default: the server's default; on anthropic-messages the model's
   * `maxTokens`, else 8,192. openai-responses sends at least 16, its minimum.
   */
  maxTokens?: number | undefined;
  /** How much the model should think. Default: no thinking is requested. */
  reasoning?: Exclude<ThinkingLevel, "off"> | undefined;
  /** Tokens to think with at each level. Default: those of {@link ThinkingBudgets}. */
  thinkingBudgets?: ThinkingBudgets | undefined;
  /**
   * Whether the model may, must or must not call a tool, or which one. Default: the server's, which
   * is `auto`. If the server does not support this choice, a weaker one is sent and {@link
   * onWarning} is called.
   */
  // Q112
  toolChoice?: ToolChoice | undefined;
  /**
   * Forces the answer to match a schema, if `supportsOutput` says that the model can; ignored
   * otherwise. The answer is text: parse and validate it.
   */
  output?: OutputFormat | undefined;
  /** Sent for prompt caching to servers that support it. */
  sessionId?: string | undefined;
  /**
   * How long to cache the prompt, on wires that mark it (Anthropic). With `none`, no wire sends
   * {@link sessionId}. Default `short`.
   */
  cacheRetention?: "none" | "short" | "long" | undefined;
  /**
   * Sent as the request's `metadata` on openai-chat and openai-responses. On anthropic-messages
   * only its `user_id` is sent, on google-generate nothing. Default: none.
   */
  metadata?: Record<string, unknown> | undefined;
  /**
   * Request headers. They replace the protocol's and the model's headers of the same name. Default:
   * none.
   */
  headers?: Record<string, string> | undefined;
  /**
   * Merged into the request body last. Its `tools` and `include` are appended to those of the
   * request; an object without a `type` is merged with the request's. Other fields are replaced.
   */
  extraBody?: Record<string, unknown> | undefined;
  /** Time limits. Default: those of {@link StreamTimeouts}. */
  timeouts?: StreamTimeouts | undefined;
  /**
   * How often to retry after a failure before any output. Default 2. At most 2 of these retries are
   * for empty answers, invalid tool calls and, with {@link retryAfterOutput}, answers that were cut
   * off: each costs the whole prompt.
   */
  // Q092
  maxRetries?: number | undefined;
  /**
   * The longest time in milliseconds from the first failure of the call to the start of its last
   * retry. Set it with a large {@link maxRetries} to retry for a period instead of a number of
   * times. 0 means no limit. Default 0.
   */
  maxRetryTimeMs?: number | undefined;
  /**
   * Whether to retry even after output was shown. A `message_retract` event withdraws that output
   * first. No tool of the turn has started by then. Default false.
   */
  retryAfterOutput?: boolean | undefined;
  /**
   * The longest wait in milliseconds that a server may request before a retry. If it requests more,
   * the call fails at once and the message says so. Default 60,000; 0 means no cap.
   */
  maxRetryDelayMs?: number | undefined;
  /**
   * Receives the request body and may return a replacement. May be async. If it throws, the call
   * fails with `hook_failed`.
   */
  onPayload?: ((payload: Record<string, unknown>, model: Model) => unknown) | undefined;
  /**
   * Receives the status and headers of each response. May be async. If it throws, the call fails
   * with `hook_failed`.
   */
  onResponse?:
    | ((response: { status: number; headers: Record<string, string> }, model: Model) => unknown)
    | undefined;
  /**
   * Called when a request is sent with a weaker option than requested. It is not awaited, and its
   * errors are ignored.
   */
  onWarning?: ((warning: RequestWarning, model: Model) => unknown) | undefined;
  /**
   * The longest event, and the longest answer that is not a stream, in UTF-16 units. All events of
   * a stream together may have four times as much. A longer one fails with `stream_corrupt`.
   * Default 32 Mi.
   */
  // Q029
  maxEventLength?: number | undefined;
  /**
   * The longest total of an answer's texts, thoughts, arguments, sources and media, in UTF-16
   * units. A longer
   * answer fails with `stream_corrupt`. Default 16 Mi.
   */
  maxAnswerLength?: number | undefined;
  /**
   * Default: the global `fetch`. `createUndiciFetch` of `@bowline/core/undici` costs less and
   * limits only the time to connect.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** Default: the system clock. */
  clock?: Clock | undefined;
  /** Returns a new unique id, for runs and for tool calls without an id. Default: random UUIDs. */
  createId?: (() => string) | undefined;
  /**
   * Returns a number from 0 up to, not including, 1, for the jitter of waits. Default:
   * `Math.random`.
   */
  random?: (() => number) | undefined;
}

/** The result of a stream function: events in order, the last one `done` or `error`. */
export interface AssistantMessageStream extends AsyncIterable<AssistantMessageEvent> {
  /**
   * Yields several events at a time, as they arrived from the network. The loop uses it if present.
   */
  batches?(): AsyncIterable<readonly AssistantMessageEvent[]>;
}

/**
 * A stream of Bowline's own functions. Its `result()` is a promise of the final message that never
 * rejects.
 */
export type AssistantMessageEventStream = EventStream<AssistantMessageEvent, AssistantMessage>;

/**
 * Makes one model call. Failures arrive as an `error` event with the final message. A function that
 * throws, rejects, or ends without a terminal event breaks this contract. The loop then ends the
 * run with `stream_function_failed` or `stream_truncated` instead of hanging.
 */
export type StreamFn = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => AssistantMessageStream | Promise<AssistantMessageStream>;
