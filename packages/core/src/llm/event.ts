/**
 * The events of a model call, and the reducer that folds them into a message. Streams, the loop and
 * the proxy all use {@link applyEvent}, so the rules exist once.
 */
import { toErrorInfo, type BowlineError, type ErrorInfo } from "../errors.ts";
import { defined } from "../json-value.ts";
import { appendDelta } from "./append-delta.ts";
import type { AssistantMessage, OpaqueContent, ToolCall, WholeContent } from "./message.ts";

/**
 * `attempt` counts the tries of the request from 1. `partial` is the live message so far: one
 * shared object that keeps changing. It exists on events of a running stream only, is not
 * enumerable, and is never serialised.
 */
interface EventBase {
  readonly attempt: number;
  readonly partial?: AssistantMessage;
}

/** The model that wrote a message, and when (milliseconds since the epoch). */
export interface MessageOrigin {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly timestamp: number;
}

/** The first event of an answer, with the fields that a message has before any content. */
interface StartEvent extends EventBase, MessageOrigin {
  readonly type: "start";
}

interface PartEvent extends EventBase {
  /** The index of the part in `message.content`. */
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
/** A fragment of the arguments' JSON text. */
interface ToolCallDeltaEvent extends PartEvent {
  readonly type: "toolcall_delta";
  readonly delta: string;
}
interface ToolCallEndEvent extends PartEvent {
  readonly type: "toolcall_end";
  readonly toolCall: ToolCall;
}
/** A complete provider-specific block. */
interface OpaqueEndEvent extends PartEvent {
  readonly type: "opaque_end";
  readonly part: OpaqueContent;
}
/** A source, image or file, complete. */
interface PartEndEvent extends PartEvent {
  readonly type: "part_end";
  readonly part: WholeContent;
}
/**
 * A tool that the vendor runs is at work. Not part of the message. Each tool ends as `completed` or
 * `failed`, unless the answer is cut. `running` is absent if the server does not report it.
 */
export interface ProviderToolEvent extends EventBase {
  readonly type: "provider_tool";
  /** Identifies the use of the tool within the answer. */
  readonly id: string;
  /** The name as the server reports it, such as `web_search`. */
  readonly toolName: string;
  readonly status: "started" | "running" | "completed" | "failed";
}
/**
 * The request failed before any output and is retried after `delayMs` milliseconds. `attempt` is
 * the try that failed.
 */
interface RequestRetryEvent extends EventBase {
  readonly type: "request_retry";
  readonly delayMs: number;
  readonly error: ErrorInfo;
}
/** A model failed before any output and its retries are used up. The next model is called. */
interface ModelFailoverEvent extends EventBase {
  readonly type: "model_failover";
  readonly from: { readonly provider: string; readonly model: string };
  readonly to: { readonly provider: string; readonly model: string };
  readonly error: ErrorInfo;
}
/** Parts from `contentIndex` on are withdrawn. The answer starts again. */
interface MessageRetractEvent extends EventBase {
  readonly type: "message_retract";
  readonly contentIndex: number;
  readonly error: ErrorInfo;
}
/** The answer is complete. This is the last event. */
export interface DoneEvent extends EventBase {
  readonly type: "done";
  readonly reason: "stop" | "length" | "toolUse";
  readonly message: AssistantMessage;
}
/**
 * The call failed or was aborted. The message keeps the content received so far. This is the last
 * event.
 */
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
  | PartEndEvent
  | ProviderToolEvent
  | RequestRetryEvent
  | MessageRetractEvent
  | ModelFailoverEvent
  | DoneEvent
  | ErrorEvent;

/** An event without the fields that the emitter adds to every event. */
export type EventBody<T = AssistantMessageEvent> = T extends unknown
  ? Omit<T, "attempt" | "partial">
  : never;

/** The first event of a part that is streamed. */
export type PartStart = Extract<
  AssistantMessageEvent,
  { type: "text_start" | "thinking_start" | "toolcall_start" }
>;

/** Returns whether this is the last event of a stream. */
export function isTerminal(event: AssistantMessageEvent): event is DoneEvent | ErrorEvent {
  return event.type === "done" || event.type === "error";
}

/** Returns the message that the last event carries. */
export function messageOf(end: DoneEvent | ErrorEvent): AssistantMessage {
  return end.type === "done" ? end.message : end.error;
}

/**
 * Applies one event to the message and returns the message. Pass `undefined` for the first event.
 * `message` is changed in place, so a delta costs the same however long the answer is. Content
 * comes from the events of the parts; `done` and `error` add usage, stop reason and ids. Ignores
 * events that do not fit, such as a delta of a part that was not opened.
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
  const { type } = event;
  if (message === undefined || type === "request_retry" || type === "model_failover")
    return message;
  if (type === "provider_tool") return message;
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
    case "part_end":
      content[event.contentIndex] = event.part;
      break;
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      appendDelta(part, event.type, event.delta);
  }
  return message;
}

/** Returns the origin of a message that `model` writes at `timestamp`. */
export function originOf(
  { api, provider, id }: Pick<MessageOrigin, "api" | "provider"> & { readonly id: string },
  timestamp: number,
): MessageOrigin {
  return { api, provider, model: id, timestamp };
}

/** Returns a message without content. */
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

/** Returns the fields that describe a failure in a message. */
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

/** Returns the message that recorded events add up to, or undefined when there was no output. */
export function reduceEvents(
  events: Iterable<AssistantMessageEvent>,
): AssistantMessage | undefined {
  let message: AssistantMessage | undefined;
  for (const event of events) message = applyEvent(message, event);
  return message;
}
