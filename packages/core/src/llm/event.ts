/**
 * What a model call says while it runs, and the one reducer that makes a message of it. Streams,
 * loop and proxy all fold with {@link applyEvent}; none keeps a second copy of these rules.
 */
import { toErrorInfo, type BowlineError, type ErrorInfo } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { GrowingText } from "./growing-text.ts";
import type { AssistantContent, AssistantMessage, OpaqueContent, ToolCall } from "./message.ts";

/**
 * `partial` is the live message as the stream has it so far: one shared object that goes on
 * changing, on events of a running stream only, not enumerable, never serialised. `attempt` counts
 * tries of the request from 1.
 */
interface EventBase {
  readonly attempt: number;
  readonly partial?: AssistantMessage;
}

/** Where a message comes from. */
export interface MessageOrigin {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly timestamp: number;
}

/** The first output: what the message is before any content. */
interface StartEvent extends EventBase, MessageOrigin {
  readonly type: "start";
}

interface PartEvent extends EventBase {
  /** The part's place in `message.content`. */
  readonly contentIndex: number;
}

interface TextStartEvent extends PartEvent {
  readonly type: "text_start";
}
interface TextDeltaEvent extends PartEvent {
  readonly type: "text_delta";
  readonly delta: string;
}
interface TextEndEvent extends PartEvent {
  readonly type: "text_end";
  readonly content: string;
  readonly textSignature?: string;
}
interface ThinkingStartEvent extends PartEvent {
  readonly type: "thinking_start";
  readonly field?: string;
}
interface ThinkingDeltaEvent extends PartEvent {
  readonly type: "thinking_delta";
  readonly delta: string;
}
interface ThinkingEndEvent extends PartEvent {
  readonly type: "thinking_end";
  readonly content: string;
  readonly thinkingSignature?: string;
  readonly redacted?: boolean;
}
interface ToolCallStartEvent extends PartEvent {
  readonly type: "toolcall_start";
  readonly id: string;
  readonly name: string;
}
/** A piece of the arguments' JSON text. */
interface ToolCallDeltaEvent extends PartEvent {
  readonly type: "toolcall_delta";
  readonly delta: string;
}
interface ToolCallEndEvent extends PartEvent {
  readonly type: "toolcall_end";
  readonly toolCall: ToolCall;
}
/** A provider's own block, whole. */
interface OpaqueEndEvent extends PartEvent {
  readonly type: "opaque_end";
  readonly part: OpaqueContent;
}
/**
 * The request failed before any output and is asked again after `delayMs`. `attempt` is the try
 * that failed.
 */
interface RequestRetryEvent extends EventBase {
  readonly type: "request_retry";
  readonly delayMs: number;
  readonly error: ErrorInfo;
}
/** A model failed for good before any output, and another is asked. */
interface ModelFailoverEvent extends EventBase {
  readonly type: "model_failover";
  readonly from: { readonly provider: string; readonly model: string };
  readonly to: { readonly provider: string; readonly model: string };
  readonly error: ErrorInfo;
}
/** Everything from part `contentIndex` on is withdrawn; the answer starts again. */
interface MessageRetractEvent extends EventBase {
  readonly type: "message_retract";
  readonly contentIndex: number;
  readonly error: ErrorInfo;
}
/** The answer is complete. Nothing follows. */
export interface DoneEvent extends EventBase {
  readonly type: "done";
  readonly reason: "stop" | "length" | "toolUse";
  readonly message: AssistantMessage;
}
/** The call failed or was aborted; the message keeps what came. Nothing follows. */
export interface ErrorEvent extends EventBase {
  readonly type: "error";
  readonly reason: "error" | "aborted";
  readonly error: AssistantMessage;
}

export type AssistantMessageEvent =
  | StartEvent
  | TextStartEvent
  | TextDeltaEvent
  | TextEndEvent
  | ThinkingStartEvent
  | ThinkingDeltaEvent
  | ThinkingEndEvent
  | ToolCallStartEvent
  | ToolCallDeltaEvent
  | ToolCallEndEvent
  | OpaqueEndEvent
  | RequestRetryEvent
  | MessageRetractEvent
  | ModelFailoverEvent
  | DoneEvent
  | ErrorEvent;

/** An event without what whoever emits it adds to each. */
export type EventBody<T = AssistantMessageEvent> = T extends unknown
  ? Omit<T, "attempt" | "partial">
  : never;

/** The first event of a part that is written in pieces. */
export type PartStart = Extract<
  AssistantMessageEvent,
  { type: "text_start" | "thinking_start" | "toolcall_start" }
>;

/** The kinds of events that come by the thousand. */
export type DeltaType = "text_delta" | "thinking_delta" | "toolcall_delta";

/** Whether the event is the stream's last. */
export function isTerminal(event: AssistantMessageEvent): event is DoneEvent | ErrorEvent {
  return event.type === "done" || event.type === "error";
}

/** The message that a stream ended with. */
export function messageOf(end: DoneEvent | ErrorEvent): AssistantMessage {
  return end.type === "done" ? end.message : end.error;
}

/**
 * Folds one event into the message and returns it. It owns `message` and changes it in place, so
 * that a delta costs the same however long the answer is; pass `undefined` first. Content comes
 * from the parts' own events; `done` and `error` add what only the end knows (usage, stop reason,
 * ids). An event that does not fit (a delta of a part never opened) is skipped.
 */
export function applyEvent(
  message: AssistantMessage | undefined,
  event: AssistantMessageEvent,
): AssistantMessage | undefined {
  if (event.type === "start") {
    return emptyMessage(event);
  }
  if (isTerminal(event)) {
    const final = messageOf(event);
    const { content } = message ?? final;
    return Object.assign(message ?? final, final, { content });
  }
  if (message === undefined || event.type === "request_retry" || event.type === "model_failover")
    return message;
  const { content } = message;
  if (event.type === "message_retract") {
    content.length = Math.min(content.length, event.contentIndex);
    return message;
  }
  const part = content[event.contentIndex];
  switch (event.type) {
    case "text_start":
      content[event.contentIndex] = { type: "text", text: "" };
      break;
    case "text_end":
      if (part?.type === "text")
        Object.assign(part, defined({ textSignature: event.textSignature }));
      break;
    case "thinking_start":
      content[event.contentIndex] = {
        type: "thinking",
        thinking: "",
        ...defined({ field: event.field }),
      };
      break;
    case "thinking_end":
      if (part?.type === "thinking")
        Object.assign(
          part,
          defined({ thinkingSignature: event.thinkingSignature, redacted: event.redacted }),
        );
      break;
    case "toolcall_start":
      content[event.contentIndex] = {
        type: "toolCall",
        id: event.id,
        name: event.name,
        arguments: {},
        argumentsText: "",
      };
      break;
    case "toolcall_end":
      if (part?.type === "toolCall") Object.assign(part, event.toolCall);
      break;
    case "opaque_end":
      content[event.contentIndex] = event.part;
      break;
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      appendDelta(part, event.type, event.delta);
  }
  return message;
}

/**
 * Appends a delta to its part; a part of another kind is left as it is. Where `text` is given it holds
 * the part's text, which then costs less to append to.
 */
export function appendDelta(
  part: AssistantContent | undefined,
  type: DeltaType,
  delta: string,
  text?: GrowingText,
): void {
  switch (type) {
    case "text_delta":
      if (part?.type === "text") part.text = text ? text.append(delta) : part.text + delta;
      break;
    case "thinking_delta":
      if (part?.type === "thinking")
        part.thinking = text ? text.append(delta) : part.thinking + delta;
      break;
    case "toolcall_delta":
      if (part?.type === "toolCall")
        part.argumentsText = text ? text.append(delta) : (part.argumentsText ?? "") + delta;
  }
}

/** Where a message of this model comes from. */
export function originOf(
  { api, provider, id }: Pick<MessageOrigin, "api" | "provider"> & { readonly id: string },
  timestamp: number,
): MessageOrigin {
  return { api, provider, model: id, timestamp };
}

/** What a message is before any content. */
export function emptyMessage({ api, provider, model, timestamp }: MessageOrigin): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api,
    provider,
    model,
    usage: {},
    stopReason: "stop",
    timestamp,
  };
}

/** What a message says of the failure that ended it. */
export function failureOf(error: BowlineError): {
  stopReason: "error" | "aborted";
  errorMessage: string;
  error: ErrorInfo;
} {
  return {
    stopReason: error.code === "aborted" ? "aborted" : "error",
    errorMessage: error.message,
    error: toErrorInfo(error),
  };
}

/** The message that recorded events add up to, or undefined when there was no output. */
export function reduceEvents(
  events: Iterable<AssistantMessageEvent>,
): AssistantMessage | undefined {
  let message: AssistantMessage | undefined;
  for (const event of events) message = applyEvent(message, event);
  return message;
}
