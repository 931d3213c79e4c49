/**
 * The events of a run. Each has the run's id and a number (`seq`) that counts from 0 without gaps; a
 * resumed run continues after the numbers that were used before. All events are JSON-safe.
 */
import type { ErrorInfo } from "../../errors.ts";
import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage, ToolResultMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { CompactionEvent } from "./compaction-event.ts";
import type { AgentToolResult, CheckedToolResult, ToolOutcome } from "./tool-result.ts";

/**
 * Why a run ended. `done`: the model had nothing more to do (or a tool or hook said so); `length`:
 * the answer was cut by a token limit; `error`; `aborted`; `budget`: turns, tokens, money or time
 * ran out.
 */
export type RunEndReason = "done" | "length" | "error" | "aborted" | "budget";

/** The tool call that started a run: each level of nested runs has its own. */
export interface ParentCall {
  /** The run whose tool started this one. */
  readonly parentRunId?: string;
  /** The tool call that started it. A model server may use an id again in a later answer. */
  readonly parentToolCallId?: string;
  /** The name of that tool. */
  readonly parentToolName?: string;
}

interface AgentEventBase extends ParentCall {
  readonly runId: string;
  readonly seq: number;
}

interface AgentStartEvent {
  readonly type: "agent_start";
  /** The run was begun by a process that ended before it did. */
  readonly resumed?: true;
}
/** The run's last event. */
interface AgentEndEvent {
  readonly type: "agent_end";
  /** Messages new in this run; the prompt included, for a run that began with one. */
  readonly messages: AgentMessage[];
  readonly reason: RunEndReason;
  /** What its model calls were billed: retries, summaries and sub-agents too. */
  readonly usage: Usage;
  readonly error?: ErrorInfo;
}
interface TurnStartEvent {
  readonly type: "turn_start";
}
interface TurnEndEvent {
  readonly type: "turn_end";
  readonly message: AssistantMessage;
  /** In the order of the calls. */
  readonly toolResults: ToolResultMessage[];
}
interface MessageStartEvent {
  readonly type: "message_start";
  readonly message: AgentMessage;
}
interface MessageUpdateEvent {
  readonly type: "message_update";
  readonly assistantMessageEvent: AssistantMessageEvent;
  /** The live message: one shared object, not enumerable, never serialised. */
  readonly message: AssistantMessage;
}
interface MessageEndEvent {
  readonly type: "message_end";
  readonly message: AgentMessage;
}
interface ToolExecutionStartEvent {
  readonly type: "tool_execution_start";
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them, before any check. */
  readonly args: Record<string, unknown>;
}
interface ToolExecutionUpdateEvent {
  readonly type: "tool_execution_update";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  readonly partialResult: AgentToolResult;
}
interface ToolExecutionEndEvent {
  readonly type: "tool_execution_end";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: CheckedToolResult;
  readonly isError: boolean;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}
/** The request failed before any output and is asked again. */
interface RequestRetryAgentEvent {
  readonly type: "request_retry";
  /** The try that failed, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ErrorInfo;
}

/** A model failed for good before any output, and another is asked. */
interface ModelFailoverAgentEvent {
  readonly type: "model_failover";
  /** The try that failed, from 1. */
  readonly attempt: number;
  readonly from: { readonly provider: string; readonly model: string };
  readonly to: { readonly provider: string; readonly model: string };
  readonly error: ErrorInfo;
}

/** A person is asked about a call. The answer is given under `approvalId`. */
interface ApprovalRequestEvent {
  readonly type: "approval_request";
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Exactly what will run. */
  readonly args: unknown;
  readonly reason?: string;
  /** Milliseconds since the epoch; from then on it counts as denied. */
  readonly expiresAt?: number;
}
interface ApprovalAnswerEvent {
  readonly type: "approval_answer";
  readonly approvalId: string;
  readonly decision: "allow" | "deny" | "expired";
  readonly by?: string;
  readonly reason?: string;
  /** With `allow`: later calls of this tool are not asked about in this session. */
  readonly remember?: "session";
}

export type AgentEventBody =
  | AgentStartEvent
  | AgentEndEvent
  | TurnStartEvent
  | TurnEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | RequestRetryAgentEvent
  | ModelFailoverAgentEvent
  | ApprovalRequestEvent
  | ApprovalAnswerEvent
  | CompactionEvent;

type Numbered<T> = T extends unknown ? Readonly<T> & AgentEventBase : never;

export type AgentEvent = Numbered<AgentEventBody>;

/** Receives events in order. Awaited only if it returns a thenable. */
export type AgentEventSink = (event: AgentEvent) => void | PromiseLike<void>;

/**
 * Awaited in the order of subscription when it returns a promise, for `hookTimeoutMs` at most. A
 * throw ends the run with `listener_failed`. After an abort updates come without a pause, and the
 * rest is awaited for `abortGraceMs`.
 */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => unknown;
