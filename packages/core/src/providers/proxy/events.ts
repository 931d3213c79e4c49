/**
 * The events of a proxy, each sent as JSON in one server-sent event. They are the stream's events
 * without what the client can compute: no message, no accumulated text, no empty fields.
 */
import type { AssistantMessageEvent, DoneEvent, ErrorEvent } from "../../llm/event.ts";
import type { AssistantMessage, ToolCall } from "../../llm/message.ts";

interface EventBase {
  /** Absent for the first try. */
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
  /** The whole call. `argumentsText` is present only if it differs from the joined deltas. */
  readonly toolCall: ToolCall;
}
/** An event that is sent unchanged. */
type Unchanged<T extends AssistantMessageEvent["type"]> = EventBase &
  Omit<Extract<AssistantMessageEvent, { type: T }>, keyof EventBase | "partial">;
type OpaqueEndEvent = Unchanged<"opaque_end">;
type PartEndEvent = Unchanged<"part_end">;
type ProviderToolEvent = Unchanged<"provider_tool">;
type RequestRetryEvent = Unchanged<"request_retry">;
type ModelFailoverEvent = Unchanged<"model_failover">;
type MessageRetractEvent = Unchanged<"message_retract">;
/** Fields that are known only at the end of an answer. */
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
  | PartEndEvent
  | ProviderToolEvent
  | RequestRetryEvent
  | ModelFailoverEvent
  | MessageRetractEvent
  | ProxyDoneEvent
  | ProxyErrorEvent;
