/**
 * What a proxy says while a model answers: one of these as JSON in each server-sent event. They are
 * the stream's own events without what the client can add up itself: no message, no accumulated
 * text, no field that says nothing.
 */
import type { ErrorInfo } from "../../errors.ts";
import {
  isTerminal,
  type AssistantMessageEvent,
  type DoneEvent,
  type ErrorEvent,
} from "../../llm/event.ts";
import type { AssistantContent, AssistantMessage, ToolCall } from "../../llm/message.ts";

interface EventBase {
  /** Left out for the first try. */
  readonly attempt?: number;
}
interface PartEvent extends EventBase {
  readonly contentIndex: number;
}
interface StartEvent
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
type Ending = Pick<
  AssistantMessage,
  "usage" | "paused" | "rawStopReason" | "responseId" | "responseModel"
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

/**
 * The events of one stream as a proxy says them. `hide` takes out of an error's words what the
 * client must not see. A stream function that left its start or some parts to the final message
 * gets them said before the end.
 */
export function createProxyEncoder(
  hide: (text: string) => string,
): (event: AssistantMessageEvent) => ProxyEvent[] {
  let isStarted = false;
  let parts = 0;
  /** What the deltas of each call add up to. */
  const argumentTexts = new Map<number, string>();

  return function encode(event) {
    const said: ProxyEvent[] = [];
    if (isTerminal(event)) {
      const message = event.type === "done" ? event.message : event.error;
      if (!isStarted) said.push(startOf(message));
      for (const part of message.content.slice(parts)) said.push(...eventsOf(part, parts++));
    }
    const body = translate(event);
    said.push(event.attempt > 1 ? { ...body, attempt: event.attempt } : body);
    return said;
  };

  function translate(event: AssistantMessageEvent): ProxyEvent {
    const { type } = event;
    switch (type) {
      case "start":
        isStarted = true;
        parts = 0;
        return startOf(event);
      case "text_start":
        return { type, contentIndex: open(event.contentIndex) };
      case "thinking_start":
        return { type, contentIndex: open(event.contentIndex), ...defined({ field: event.field }) };
      case "toolcall_start":
        argumentTexts.set(event.contentIndex, "");
        return { type, contentIndex: open(event.contentIndex), id: event.id, toolName: event.name };
      case "toolcall_delta": {
        const { contentIndex, delta } = event;
        argumentTexts.set(contentIndex, (argumentTexts.get(contentIndex) ?? "") + delta);
        return { type, contentIndex, delta };
      }
      case "text_delta":
      case "thinking_delta":
        return { type, contentIndex: event.contentIndex, delta: event.delta };
      case "text_end":
        return {
          type,
          contentIndex: event.contentIndex,
          ...defined({ contentSignature: event.textSignature }),
        };
      case "thinking_end": {
        const { contentIndex, thinkingSignature: contentSignature, redacted } = event;
        return { type, contentIndex, ...defined({ contentSignature, redacted }) };
      }
      case "toolcall_end": {
        const { contentIndex, toolCall } = event;
        const { argumentsText, ...rest } = toolCall;
        const isKnown = argumentsText === argumentTexts.get(contentIndex);
        argumentTexts.delete(contentIndex);
        return { type, contentIndex, toolCall: isKnown ? rest : toolCall };
      }
      case "opaque_end":
        return { type, contentIndex: open(event.contentIndex), part: event.part };
      case "request_retry":
        return { type, delayMs: event.delayMs, error: hideIn(event.error) };
      case "model_failover":
        return { type, from: event.from, to: event.to, error: hideIn(event.error) };
      case "message_retract":
        parts = Math.min(parts, event.contentIndex);
        return { type, contentIndex: event.contentIndex, error: hideIn(event.error) };
      case "done":
        return { type, reason: event.reason, ...endingOf(event.message) };
      case "error": {
        const { errorMessage, error } = event.error;
        return {
          type,
          reason: event.reason,
          ...endingOf(event.error),
          ...(errorMessage !== undefined && { errorMessage: hide(errorMessage) }),
          ...(error !== undefined && { error: hideIn(error) }),
        };
      }
    }
  }

  function open(contentIndex: number): number {
    parts = Math.max(parts, contentIndex + 1);
    return contentIndex;
  }

  function hideIn(error: ErrorInfo): ErrorInfo {
    return { ...error, message: hide(error.message) };
  }
}

function startOf({ api, provider, model, timestamp }: Omit<StartEvent, "type">): ProxyEvent {
  return { type: "start", api, provider, model, timestamp };
}

function endingOf({
  usage,
  paused,
  rawStopReason,
  responseId,
  responseModel,
}: AssistantMessage): Ending {
  return { usage, ...defined({ paused, rawStopReason, responseId, responseModel }) };
}

/** A part that was never streamed, as the events that say it. */
function eventsOf(part: AssistantContent, contentIndex: number): ProxyEvent[] {
  switch (part.type) {
    case "text":
      return [
        { type: "text_start", contentIndex },
        { type: "text_delta", contentIndex, delta: part.text },
        { type: "text_end", contentIndex, ...defined({ contentSignature: part.textSignature }) },
      ];
    case "thinking": {
      const { thinking, thinkingSignature: contentSignature, redacted, field } = part;
      return [
        { type: "thinking_start", contentIndex, ...defined({ field }) },
        { type: "thinking_delta", contentIndex, delta: thinking },
        { type: "thinking_end", contentIndex, ...defined({ contentSignature, redacted }) },
      ];
    }
    case "toolCall":
      return [
        { type: "toolcall_start", contentIndex, id: part.id, toolName: part.name },
        { type: "toolcall_end", contentIndex, toolCall: part },
      ];
    case "opaque":
      return [{ type: "opaque_end", contentIndex, part }];
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that have a value. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
