/**
 * The events of a run. Each has the run's id and a sequence number (`seq`) that counts from 0
 * without gaps. A resumed run continues after the last number used. All events are JSON-safe.
 */
import type { ErrorInfo } from "../../errors.ts";
import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage, ToolResultMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { CompactionEvent } from "./compaction-event.ts";
import type { AgentToolResult, CheckedToolResult, ToolOutcome } from "./tool-result.ts";

/**
 * Why a run ended. `done`: the model finished, or a tool or hook ended the run. `length`: a token
 * limit cut the answer. `error`: the run failed. `aborted`: the caller aborted it. `budget`: turns,
 * tokens, money or time ran out.
 */
export type RunEndReason = "done" | "length" | "error" | "aborted" | "budget";

/** The tool call that started a nested run. Each level of nesting has its own. */
export interface ParentCall {
  /** The run whose tool started this one. */
  readonly parentRunId?: string;
  /** The tool call that started it. A model server may reuse an id in a later answer. */
  readonly parentToolCallId?: string;
  /** The name of that tool. */
  readonly parentToolName?: string;
}

/** What all events have beside their own fields. */
interface AgentEventBase extends ParentCall {
  readonly runId: string;
  /** Counts the events of the run from 0, without gaps. */
  readonly seq: number;
}

/** The run's first event. */
interface AgentStartEvent {
  readonly type: "agent_start";
  /** Set when an earlier process began the run and ended before the run did. */
  readonly resumed?: true;
  /**
   * The end of the run's time budget, in milliseconds since the epoch. Absent without one. A resumed
   * run keeps it, through `InterruptedRun.deadline`.
   */
  readonly deadline?: number;
}
/** The run's last event. */
interface AgentEndEvent {
  readonly type: "agent_end";
  /** Messages of this run, including its prompt if it had one. */
  readonly messages: AgentMessage[];
  readonly reason: RunEndReason;
  /** The billed usage of its model calls, including retries, summaries and sub-agents. */
  readonly usage: Usage;
  readonly error?: ErrorInfo;
}
/** A turn begins: one model call and the tools that its answer calls. */
interface TurnStartEvent {
  readonly type: "turn_start";
}
/** A turn has ended: the answer and the results of its calls. */
interface TurnEndEvent {
  readonly type: "turn_end";
  readonly message: AssistantMessage;
  /** In the order of the calls. */
  readonly toolResults: ToolResultMessage[];
}
/** A message begins: a prompt, an answer, a tool's result or a queued message. */
interface MessageStartEvent {
  readonly type: "message_start";
  readonly message: AgentMessage;
}
/** A piece of the answer has arrived. */
interface MessageUpdateEvent {
  readonly type: "message_update";
  readonly assistantMessageEvent: AssistantMessageEvent;
  /** The live message: one shared object, not enumerable, never serialised. */
  readonly message: AssistantMessage;
}
/** A message is complete and stands in the transcript. */
interface MessageEndEvent {
  readonly type: "message_end";
  readonly message: AgentMessage;
}
/** A call of the model is taken up, before its arguments are checked. */
interface ToolExecutionStartEvent {
  readonly type: "tool_execution_start";
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them, before validation. */
  readonly args: Record<string, unknown>;
}
/** Progress that a tool reports while it runs. */
interface ToolExecutionUpdateEvent {
  readonly type: "tool_execution_update";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  readonly partialResult: AgentToolResult;
}
/**
 * A call has its result, also when it was refused before the tool ran. The calls of an answer that
 * is not trusted (cut, or contradicting itself) have neither start nor end event: `RunResult.tools`
 * lists them as `not_started`.
 */
interface ToolExecutionEndEvent {
  readonly type: "tool_execution_end";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: CheckedToolResult;
  readonly isError: boolean;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}
/** The request failed before any output and will be retried. */
interface RequestRetryAgentEvent {
  readonly type: "request_retry";
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ErrorInfo;
}

/** A model failed permanently before any output, and the next model is called. */
interface ModelFailoverAgentEvent {
  readonly type: "model_failover";
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly from: { readonly provider: string; readonly model: string };
  readonly to: { readonly provider: string; readonly model: string };
  readonly error: ErrorInfo;
}

/** A person is asked to approve a call. Answer with `approvalId`. */
interface ApprovalRequestEvent {
  readonly type: "approval_request";
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact arguments that the tool will receive. */
  readonly args: unknown;
  readonly reason?: string;
  /** Milliseconds since the epoch. Without an answer by then, the call is denied. */
  readonly expiresAt?: number;
}
/** The question about a call was answered, or expired. */
interface ApprovalAnswerEvent {
  readonly type: "approval_answer";
  readonly approvalId: string;
  readonly decision: "allow" | "deny" | "expired";
  readonly by?: string;
  readonly reason?: string;
  /** With `allow`: later calls of this tool in this session need no approval. */
  readonly remember?: "session";
}

/** The fields of each event, by its `type`. */
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

/**
 * An event of a run: the fields of its `type` with `runId`, `seq` and, in a nested run, the call
 * that started it.
 */
export type AgentEvent = Numbered<AgentEventBody>;

/** Receives events in order. The run awaits it only if it returns a thenable. */
export type AgentEventSink = (event: AgentEvent) => void | PromiseLike<void>;

/**
 * Receives events in order. Listeners are called in order of subscription. A returned promise is
 * awaited for at most `hookTimeoutMs`. A throw ends the run with `listener_failed`. After an abort,
 * updates are not awaited and other events for at most `abortGraceMs`; a listener that exceeds it
 * is not awaited again.
 */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => unknown;
