/** The types of karl's loop. */
import type { Compat, StreamFn, StreamOptions } from "@bowline/core";
import type { Message, ToolCall } from "./message.ts";
import type { ToolDefinition, ToolResult } from "./tool.ts";

/**
 * The configuration of a run. Includes all stream options; `headers` and `extraBody` are useful for
 * routers. Failed requests are not retried; for that, see `runTask`.
 */
export interface LoopConfig extends StreamOptions {
  model: string;
  /** The address before `/chat/completions` or `/messages`. */
  baseUrl: string;
  apiKey: string;
  apiFormat: "openai" | "anthropic";
  compat?: Compat;
  /**
   * How many rounds of tool calls may run. With 0, an answer that calls a tool is an error. Default
   * 50.
   */
  maxToolRounds?: number;
  /** Called with each message added to the history, in order: answers and tool results. */
  onMessage?: (message: Message) => void;
  /** Makes the model calls. Default: the entry point's wire. */
  streamFn?: StreamFn;
  /** Whether to emit each `ThinkingEvent`. Default false. */
  thinkingEvents?: boolean;
}

/** Configuration of a run that yields each {@link AgentEvent}. */
export interface AgentLoopConfig extends LoopConfig {
  thinkingEvents?: false;
}

/** Configuration of a run that may also yield each {@link ThinkingEvent}. */
export interface ThinkingLoopConfig extends LoopConfig {
  thinkingEvents: boolean;
}

/** `input` is the whole prompt, including cached tokens. `cost` is in US dollars. */
export type TokenUsage = Partial<Record<"input" | "output" | "total" | "cost", number>>;

/**
 * The events of a run. `turn_end` is emitted once per run, with the sum of its calls. After `error`
 * the generator throws the same error.
 */
export type AgentEvent =
  | { type: "stream_start" }
  | { type: "text_delta"; delta: string }
  | { type: "text_end"; text: string }
  | { type: "tool_call_start"; toolCall: ToolCall }
  | { type: "tool_call_end"; toolCall: ToolCall }
  | { type: "tool_execution_start"; toolName: string; args: Record<string, unknown> }
  | { type: "tool_execution_end"; toolName: string; result: ToolResult; isError: boolean }
  | { type: "message_end"; message: Message; usage?: TokenUsage }
  | { type: "turn_end"; usage?: TokenUsage }
  | { type: "error"; error: Error };

/** Emitted only with `thinkingEvents: true`. */
export type ThinkingEvent =
  | { type: "thinking_delta"; delta: string }
  | { type: "thinking_end"; text: string };

export type Events<Event = AgentEvent | ThinkingEvent> = AsyncGenerator<Event, Message, undefined>;

/** The arguments of {@link AgentLoop}. */
export type LoopArguments = [
  systemPrompt: string,
  userMessage: string | readonly Message[],
  tools: readonly ToolDefinition[],
  config: LoopConfig,
];

/**
 * Runs until the model calls no more tools and returns its last message. A message list may end
 * with a user's or a tool's message. Tools run one after another.
 *
 * The run waits for its reader: no request and no tool starts before the next event is requested.
 * Leaving the generator aborts the run. A failure is yielded as `error` and then thrown.
 */
export interface AgentLoop {
  (
    systemPrompt: string,
    userMessage: string | readonly Message[],
    tools: readonly ToolDefinition[],
    config: AgentLoopConfig,
  ): Events<AgentEvent>;
  (
    systemPrompt: string,
    userMessage: string | readonly Message[],
    tools: readonly ToolDefinition[],
    config: ThinkingLoopConfig,
  ): Events;
}
