/**
 * What a proxy says while a model answers: one of these as JSON in each server-sent event. They are
 * the stream's own events without what the client can add up itself: no message, no accumulated
 * text, no field that says nothing.
 */
import type { AssistantMessageEvent, DoneEvent, ErrorEvent } from "../../llm/event.ts";
import type { AssistantMessage, ToolCall } from "../../llm/message.ts";

interface EventBase {
  /** Left out for the first try. */
  readonly attempt?: number;
}
interface PartEvent extends EventBase {
  readonly contentIndex: number;
}
export interface StartEvent
  extends EventBase, Pick<AssistantMessage, "api" | "provider" | "model" | "timestamp"> {
  readonly type: "start";
}
interface TextStartEvent extends PartEvent {
  readonly type: "text_start";
}
interface ThinkingStartEvent extends PartEvent {
  readonly type: "thinking_start";
  readonly field?: string;
}
interface ToolCallStartEvent extends PartEvent {
  readonly type: "toolcall_start";
  readonly id: string;
  readonly toolName: string;
}
interface DeltaEvent extends PartEvent {
  readonly type: "text_delta" | "thinking_delta" | "toolcall_delta";
  readonly delta: string;
}
interface TextEndEvent extends PartEvent {
  readonly type: "text_end";
  readonly contentSignature?: string;
}
interface ThinkingEndEvent extends PartEvent {
  readonly type: "thinking_end";
  readonly contentSignature?: string;
  readonly redacted?: boolean;
}
interface ToolCallEndEvent extends PartEvent {
  readonly type: "toolcall_end";
  /** The whole call; `argumentsText` only where it is not what the deltas add up to. */
  readonly toolCall: ToolCall;
}
/** An event that travels as it is. */
type Unchanged<T extends AssistantMessageEvent["type"]> = EventBase &
  Omit<Extract<AssistantMessageEvent, { type: T }>, keyof EventBase | "partial">;
type OpaqueEndEvent = Unchanged<"opaque_end">;
type RequestRetryEvent = Unchanged<"request_retry">;
type ModelFailoverEvent = Unchanged<"model_failover">;
type MessageRetractEvent = Unchanged<"message_retract">;
/** What only the end of an answer knows. */
export type Ending = Pick<
  AssistantMessage,
  "usage" | "discardedUsage" | "paused" | "rawStopReason" | "responseId" | "responseModel"
>;
interface ProxyDoneEvent extends EventBase, Ending {
  readonly type: "done";
  readonly reason: DoneEvent["reason"];
}
interface ProxyErrorEvent
  extends EventBase, Ending, Pick<AssistantMessage, "errorMessage" | "error"> {
  readonly type: "error";
  readonly reason: ErrorEvent["reason"];
}

export type ProxyEvent =
  | StartEvent
  | TextStartEvent
  | ThinkingStartEvent
  | ToolCallStartEvent
  | DeltaEvent
  | TextEndEvent
  | ThinkingEndEvent
  | ToolCallEndEvent
  | OpaqueEndEvent
  | RequestRetryEvent
  | ModelFailoverEvent
  | MessageRetractEvent
  | ProxyDoneEvent
  | ProxyErrorEvent;
