/** Turns a proxy's events into the stream's events and their message. */
import { toErrorInfo, type BowlineError } from "../../errors.ts";
import { asRecord, asText, defined } from "../../json-value.ts";
import {
  applyEvent,
  type AssistantMessageEvent,
  type EventBody,
  type MessageOrigin,
  type PartStart,
} from "../../llm/event.ts";
import { LiveDelta, withPartial } from "../../llm/live.ts";
import type { AssistantContent, AssistantMessage, StopReason } from "../../llm/message.ts";
import {
  corrupt,
  count,
  isIndex,
  readCall,
  readEnding,
  readError,
  readName,
  readStatus,
  readWhole,
  text,
  textsOf,
} from "./fields.ts";

type Json = Record<string, unknown>;
type PartType = "text" | "thinking" | "toolCall";

/** Throws `stream_corrupt` for an event in the wrong place. */
export class ProxyMessage {
  readonly #origin: MessageOrigin;
  readonly #firstAttempt: number;
  /** Parts that are still being written, by index. */
  readonly #open = new Map<number, PartType>();
  #attempt: number;
  #message: AssistantMessage | undefined;
  #batch: AssistantMessageEvent[] = [];
  /** Whether a start is allowed: at first, and after all output was withdrawn. */
  #mayStart = true;
  #ended = false;

  constructor(origin: MessageOrigin, attempt: number) {
    this.#origin = origin;
    this.#firstAttempt = attempt;
    this.#attempt = attempt;
  }

  /** The message so far. Before the first event, an empty one. */
  get message(): AssistantMessage {
    return this.#message ?? emptyMessage(this.#origin, this.#attempt);
  }

  get started(): boolean {
    return this.#message !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Returns the events since the last call. */
  take(): AssistantMessageEvent[] {
    const batch = this.#batch;
    if (batch.length > 0) this.#batch = [];
    return batch;
  }

  fail(error: BowlineError): void {
    const reason = error.code === "aborted" ? "aborted" : "error";
    this.#finish({ reason, errorMessage: error.message, error: toErrorInfo(error) });
  }

  read(type: string, event: Json): void {
    const { attempt } = event;
    this.#attempt = this.#firstAttempt + (isIndex(attempt) && attempt > 1 ? attempt - 1 : 0);
    this.#event(type, event);
  }

  /**
   * Reads one event. Unknown types are skipped; a skipped part shows in the index of the next one.
   */
  #event(type: string, event: Json): void {
    switch (type) {
      case "start":
        if (!this.#mayStart || this.message.content.length > 0) throw corrupt("it starts twice");
        return this.#start(event);
      case "text_start":
        return this.#openPart("text", event, { type });
      case "thinking_start":
        return this.#openPart("thinking", event, { type, ...textsOf(event, "field") });
      case "toolcall_start": {
        const names = { id: text(event, "id"), name: text(event, "toolName") };
        return this.#openPart("toolCall", event, { type, ...names });
      }
      case "text_delta":
        return this.#delta(type, "text", event);
      case "thinking_delta":
        return this.#delta(type, "thinking", event);
      case "toolcall_delta":
        return this.#delta(type, "toolCall", event);
      case "text_end":
        return this.#closePart("text", event);
      case "thinking_end":
        return this.#closePart("thinking", event);
      case "toolcall_end":
        return this.#closePart("toolCall", event);
      case "opaque_end":
        return this.#opaque(event);
      case "part_end":
        return this.#whole(event);
      case "provider_tool":
        return this.#progress(event);
      case "request_retry":
      case "model_failover":
        return this.#again(type, event);
      case "message_retract":
        return this.#retract(event);
      case "done":
        return this.#done(event);
      case "error":
        return this.#error(event);
    }
  }

  #again(type: "request_retry" | "model_failover", { delayMs, from, to, error }: Json): void {
    if (this.message.content.length > 0) throw corrupt(`${type} follows output`);
    this.#mayStart = true;
    const base = { attempt: this.#attempt, error: readError(error) };
    if (type === "request_retry") this.#batch.push({ type, ...base, delayMs: count(delayMs) });
    else this.#batch.push({ type, ...base, from: readName(from), to: readName(to) });
  }

  #start({ api, provider, model, timestamp }: Json): void {
    const { api: ownApi, provider: ownProvider, model: ownModel, timestamp: now } = this.#origin;
    this.#mayStart = false;
    this.#emit({
      type: "start",
      api: asText(api) || ownApi,
      provider: asText(provider) || ownProvider,
      model: asText(model) || ownModel,
      timestamp: typeof timestamp === "number" ? timestamp : now,
    });
  }

  #openPart(part: PartType, event: Json, body: Omit<EventBody<PartStart>, "contentIndex">): void {
    const contentIndex = this.#nextIndex(event);
    this.#emit({ ...body, contentIndex } as EventBody<PartStart>);
    this.#open.set(contentIndex, part);
  }

  #delta(type: LiveDelta["type"], part: PartType, event: Json): void {
    const message = this.#running(event);
    const index = this.#openIndex(part, event);
    const delta = text(event, "delta");
    if (delta === "") return;
    const live = new LiveDelta(type, this.#attempt, index, delta, message);
    applyEvent(message, live);
    this.#batch.push(live);
  }

  #closePart(type: PartType, event: Json): void {
    const { content } = this.#running(event);
    const contentIndex = this.#openIndex(type, event);
    const part = content[contentIndex] as AssistantContent;
    const { contentSignature: signature } = textsOf(event, "contentSignature");
    if (part.type === "text") {
      const extra = defined({ textSignature: signature });
      this.#emit({ type: "text_end", contentIndex, content: part.text, ...extra });
    } else if (part.type === "thinking") {
      const redacted = event.redacted === true || undefined;
      const extra = defined({ thinkingSignature: signature, redacted });
      this.#emit({ type: "thinking_end", contentIndex, content: part.thinking, ...extra });
    } else if (part.type === "toolCall") {
      this.#emit({ type: "toolcall_end", contentIndex, toolCall: readCall(event.toolCall, part) });
    }
    this.#open.delete(contentIndex);
  }

  #opaque(event: Json): void {
    const contentIndex = this.#nextIndex(event);
    const { protocol, raw } = asRecord(event.part);
    if (typeof protocol !== "string") throw corrupt("an opaque part names no protocol");
    this.#emit({
      type: "opaque_end",
      contentIndex,
      part: { type: "opaque", protocol, raw },
    });
  }

  #whole(event: Json): void {
    const contentIndex = this.#nextIndex(event);
    this.#emit({ type: "part_end", contentIndex, part: readWhole(event.part) });
  }

  #progress(event: Json): void {
    this.#running(event);
    const status = readStatus(event.status);
    const [id, toolName] = [text(event, "id"), text(event, "toolName")];
    if (status !== undefined) this.#emit({ type: "provider_tool", id, toolName, status });
  }

  #retract(event: Json): void {
    const { content } = this.#running(event);
    const { contentIndex } = event;
    if (!isIndex(contentIndex) || contentIndex > content.length)
      throw corrupt("it withdraws parts that do not exist");
    this.#mayStart = contentIndex === 0;
    for (const index of this.#open.keys()) if (index >= contentIndex) this.#open.delete(index);
    this.#emit({
      type: "message_retract",
      contentIndex,
      error: readError(event.error),
    });
  }

  #done(event: Json): void {
    const { reason } = event;
    this.#running(event);
    if (this.#open.size > 0) throw corrupt("a part has no end");
    if (reason !== "stop" && reason !== "length" && reason !== "toolUse")
      throw corrupt("its finish reason is unknown");
    this.#finish({ ...readEnding(event), reason });
  }

  #error(event: Json): void {
    const reason = event.reason === "aborted" ? "aborted" : "error";
    const error = readError(event.error, event.errorMessage, reason);
    const errorMessage = asText(event.errorMessage) || error.message;
    this.#finish({ ...readEnding(event), reason, errorMessage, error });
  }

  /** Emits the last event, preceded by a start if there was no output. */
  #finish({
    reason,
    ...fields
  }: Partial<AssistantMessage> & { readonly reason: StopReason }): void {
    if (this.#message === undefined) this.#start({});
    for (const [contentIndex, type] of this.#open) this.#closePart(type, { type, contentIndex });
    const message = Object.assign(this.message, fields, { stopReason: reason });
    if (reason === "error" || reason === "aborted")
      this.#emit({ type: "error", reason, error: message });
    else this.#emit({ type: "done", reason, message });
    this.#ended = true;
  }

  #emit(body: EventBody): void {
    const event = { ...body, attempt: this.#attempt } as AssistantMessageEvent;
    this.#message = applyEvent(this.#message, event) as AssistantMessage;
    this.#batch.push(withPartial(event, this.#message));
  }

  #running(event: Json): AssistantMessage {
    if (this.#message === undefined) throw corrupt(`${String(event.type)} comes before the start`);
    return this.#message;
  }

  #nextIndex(event: Json): number {
    const { length } = this.#running(event).content;
    if (event.contentIndex !== length)
      throw corrupt(`${String(event.type)} is not for part ${length}`);
    return length;
  }

  #openIndex(part: PartType, { type, contentIndex }: Json): number {
    if (this.#open.get(contentIndex as number) === part) return contentIndex as number;
    throw corrupt(`${String(type)} refers to no open part of its kind`);
  }
}

function emptyMessage(origin: MessageOrigin, attempt: number): AssistantMessage {
  return applyEvent(undefined, { type: "start", attempt, ...origin }) as AssistantMessage;
}
