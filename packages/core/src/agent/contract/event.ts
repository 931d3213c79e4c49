/**
 * What a run says while it goes on: seed 002's ten kinds, in its order, and a few more that appear
 * only when their cause does. Every event has the run's id and a number that counts without gaps:
 * from 0, of a resumed run from beyond all that were given out before. All are JSON-safe.
 */
import type { ErrorInfo } from "../../errors.ts";
import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { CompactionEvent } from "../context/compaction-options.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool.ts";

/**
 * Extend this by declaration merging to carry messages of your own; `convertToLlm` says what a
 * model sees of them.
 */
export interface CustomAgentMessages {}

/** A message a model understands, or one of the application's own. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- empty until an application merges its own
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/**
 * Why a run ended. `done`: the model had nothing more to do (or a tool or hook said so); `length`:
 * the answer was cut by a token limit; `error`; `aborted`; `budget`: turns, tokens, money or time
 * ran out.
 */
export type RunEndReason = "done" | "length" | "error" | "aborted" | "budget";

/**
 * What became of a tool call: `left_running` when it ignored its signal beyond the grace; `unknown`
 * when the process died while it ran, and it must not be run again.
 */
export type ToolOutcome =
  | "finished"
  | "failed"
  | "stopped"
  | "left_running"
  | "not_started"
  | "unknown";

interface AgentEventBase {
  readonly runId: string;
  readonly seq: number;
  /** The run whose tool started this one. */
  readonly parentRunId?: string;
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
  /** The sum over the run's model calls. */
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
 * A `message_update`, of which there are thousands: the live message behind a getter costs nothing
 * to attach.
 */
export class MessageUpdate implements MessageUpdateEvent, AgentEventBase {
  readonly type = "message_update";
  declare readonly runId: string;
  declare readonly seq: number;
  declare readonly parentRunId?: string;
  declare readonly assistantMessageEvent: AssistantMessageEvent;
  readonly #message: AssistantMessage;

  constructor(runId: string, seq: number, event: AssistantMessageEvent, message: AssistantMessage) {
    this.runId = runId;
    this.seq = seq;
    this.assistantMessageEvent = event;
    this.#message = message;
  }

  get message(): AssistantMessage {
    return this.#message;
  }
}
