/** Encodes a stream's events for the proxy's response. */
import type { ErrorInfo } from "../../errors.ts";
import {
  isTerminal,
  messageOf,
  type AssistantMessageEvent,
  type ErrorEvent,
} from "../../llm/event.ts";
import type { AssistantContent, AssistantMessage } from "../../llm/message.ts";
import type { Ending, ProxyEvent, StartEvent } from "./events.ts";

/**
 * Encodes the events of one stream. `hide` redacts what the client must not see from error
 * messages. If the stream function delivered its start or some parts only in the final message,
 * they are sent before the end.
 */
export class ProxyEncoder {
  readonly #hide: (text: string) => string;
  /** The arguments of each call so far, by content index. */
  readonly #argumentTexts = new Map<number, string>();
  #isStarted = false;
  #parts = 0;

  constructor(hide: (text: string) => string) {
    this.#hide = hide;
  }

  encode(event: AssistantMessageEvent): ProxyEvent[] {
    const said: ProxyEvent[] = [];
    if (isTerminal(event)) {
      const message = messageOf(event);
      if (!this.#isStarted) said.push(startOf(message));
      for (const part of message.content.slice(this.#parts))
        said.push(...eventsOf(part, this.#parts++));
    }
    const body = this.#translate(event);
    said.push(event.attempt > 1 ? { ...body, attempt: event.attempt } : body);
    return said;
  }

  #translate(event: AssistantMessageEvent): ProxyEvent {
    const { type } = event;
    switch (type) {
      case "start":
        this.#isStarted = true;
        this.#parts = 0;
        return startOf(event);
      case "text_start":
        return { type, contentIndex: this.#open(event.contentIndex) };
      case "thinking_start":
        return {
          type,
          contentIndex: this.#open(event.contentIndex),
          ...defined({ field: event.field }),
        };
      case "toolcall_start":
        this.#argumentTexts.set(event.contentIndex, "");
        return {
          type,
          contentIndex: this.#open(event.contentIndex),
          id: event.id,
          toolName: event.name,
        };
      case "toolcall_delta": {
        const { contentIndex, delta } = event;
        this.#argumentTexts.set(
          contentIndex,
          (this.#argumentTexts.get(contentIndex) ?? "") + delta,
        );
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
        const isKnown = argumentsText === this.#argumentTexts.get(contentIndex);
        return { type, contentIndex, toolCall: isKnown ? rest : toolCall };
      }
      case "opaque_end":
        return { type, contentIndex: this.#open(event.contentIndex), part: event.part };
      case "part_end":
        return { type, contentIndex: this.#open(event.contentIndex), part: event.part };
      case "provider_tool":
        return { type, id: event.id, toolName: event.toolName, status: event.status };
      case "request_retry":
        return { type, delayMs: event.delayMs, error: this.#hideIn(event.error) };
      case "model_failover":
        return { type, from: event.from, to: event.to, error: this.#hideIn(event.error) };
      case "message_retract":
        this.#parts = Math.min(this.#parts, event.contentIndex);
        return { type, contentIndex: event.contentIndex, error: this.#hideIn(event.error) };
      case "done":
        return { type, reason: event.reason, ...endingOf(event.message) };
      case "error":
        return this.#failed(event);
    }
  }

  #failed({ type, reason, error: message }: ErrorEvent): ProxyEvent {
    const { errorMessage, error } = message;
    return {
      type,
      reason,
      ...endingOf(message),
      ...(errorMessage !== undefined && { errorMessage: this.#hide(errorMessage) }),
      ...(error !== undefined && { error: this.#hideIn(error) }),
    };
  }

  #open(contentIndex: number): number {
    this.#parts = Math.max(this.#parts, contentIndex + 1);
    return contentIndex;
  }

  #hideIn(error: ErrorInfo): ErrorInfo {
    return { ...error, message: this.#hide(error.message) };
  }
}

function startOf({ api, provider, model, timestamp }: Omit<StartEvent, "type">): ProxyEvent {
  return { type: "start", api, provider, model, timestamp };
}

function endingOf({
  usage,
  discardedUsage,
  paused,
  rawStopReason,
  responseId,
  responseModel,
}: AssistantMessage): Ending {
  return {
    usage,
    ...defined({ discardedUsage, paused, rawStopReason, responseId, responseModel }),
  };
}

/** Returns the events for a part that was never streamed. */
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
    case "source":
    case "image":
    case "file":
      return [{ type: "part_end", contentIndex, part }];
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields that are not undefined. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
