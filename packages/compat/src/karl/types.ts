/** The shapes of karl's loop. */
import type { Compat, StreamFn, StreamOptions } from "@bowline/core";
import type { Message, ToolCall } from "./message.ts";
import type { ToolDefinition, ToolResult } from "./tool.ts";

/**
 * Every stream option is taken; `headers` and `extraBody` are for routers. A failed request is not
 * retried: see `runTask`.
 */
export interface LoopConfig extends StreamOptions {
  model: string;
  /** Up to, not including, `/chat/completions` or `/messages`. */
  baseUrl: string;
  apiKey: string;
  apiFormat: "openai" | "anthropic";
  compat?: Compat;
  /** How often tools may run; with 0 an answer that calls one is an error. Default 50. */
  maxToolRounds?: number;
  /** Called with each message that enters the history, in order: answers and tool results. */
  onMessage?: (message: Message) => void;
  /** Makes the model calls. Default: the entry's wire. */
  streamFn?: StreamFn;
  /** Whether the events include each `ThinkingEvent`. Default false. */
  thinkingEvents?: boolean;
}

/** A run that yields each {@link AgentEvent}. */
export interface AgentLoopConfig extends LoopConfig {
  thinkingEvents?: false;
}

/** A run that may also yield each {@link ThinkingEvent}. */
export interface ThinkingLoopConfig extends LoopConfig {
  thinkingEvents: boolean;
}

/** `input` is the whole prompt, what came from a cache included; `cost` is in US dollars. */
export type TokenUsage = Partial<Record<"input" | "output" | "total" | "cost", number>>;

/**
 * `turn_end` comes once a run, with the sum of its calls. After `error` the generator throws the
 * same error.
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

/** Only with `thinkingEvents: true`. */
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
 * Runs until the model calls no more tools; returns its last message. A message list may end with a
 * user's or a tool's. Tools run one after the other.
 *
 * Nothing starts before the reader asks for the next event: no request, and no tool. Leaving the
 * generator aborts the run. A failure is yielded as `error` and then thrown.
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
