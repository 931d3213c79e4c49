/**
 * Writes a message as a sequence of events and keeps the live message by folding those same events with the one reducer. Every
 * decoder and the scripted model write through it, so the events and the final message cannot disagree.
 */
import type { BowlineError } from "../errors.ts";
import { defined } from "../json-value.ts";
import { applyEvent, emptyMessage, failureOf, type AssistantMessageEvent, type MessageOrigin } from "./event.ts";
import { LiveDelta, withPartial } from "./live.ts";
import type { AssistantContent, AssistantMessage, OpaqueContent, ToolCall } from "./message.ts";
import { parseToolArguments } from "./tool-arguments.ts";
import { withTotal, type Usage } from "./usage.ts";

export type { MessageOrigin } from "./event.ts";

type PartKind = "text" | "thinking" | "toolCall";

/** What the deltas of a part are called. */
const deltaTypes = { text: "text_delta", thinking: "thinking_delta", toolCall: "toolcall_delta" } as const;

/** Engines keep text that grew as a chain of its pieces, which each garbage collection walks: so many are joined for good. */
const PIECES = 128;

/** One part that is still being written. */
interface OpenPart {
  readonly kind: PartKind;
  readonly deltaType: LiveDelta["type"];
  /** The part in the live message. */
  readonly live: AssistantContent | undefined;
  /** Half a surrogate pair, kept until its other half comes (Q091). */
  held: string;
  /** The text so far, but for the pieces that are not joined yet. */
  joined: string;
  pieces: string[];
}

/** An event without what every event of this writer has. */
type Body<T> = T extends unknown ? Omit<T, "attempt" | "partial"> : never;

export class MessageWriter {
  readonly message: AssistantMessage;
  readonly #origin: MessageOrigin;
  readonly #attempt: number;
  /** By their place in the message. */
  readonly #open: (OpenPart | undefined)[] = [];
  #batch: AssistantMessageEvent[] = [];
  #started = false;
  #ended = false;

  constructor(origin: MessageOrigin, attempt = 1) {
    this.#attempt = attempt;
    this.#origin = origin;
    this.message = emptyMessage(origin);
  }

  /** Whether anything was written; before that a request may be asked again unseen. */
  get started(): boolean {
    return this.#started;
  }

  /** Whether `done` or `error` was written; later writes are dropped. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The events written since the last call. */
  take(): AssistantMessageEvent[] {
    const batch = this.#batch;
    if (batch.length > 0) this.#batch = [];
    return batch;
  }

  openText(): number {
    return this.#openPart("text", { type: "text_start", contentIndex: this.#next });
  }

  openThinking(field?: string): number {
    const start = { type: "thinking_start", contentIndex: this.#next, ...defined({ field }) } as const;
    return this.#openPart("thinking", start);
  }

  openToolCall(id: string, name: string): number {
    return this.#openPart("toolCall", { type: "toolcall_start", contentIndex: this.#next, id, name });
  }

  /** Appends to an open part. Empty text is no event. */
  append(index: number, text: string): void {
    const part = this.#open[index];
    if (part === undefined || text === "" || this.#ended) return;
    let delta = text;
    if (part.kind !== "toolCall") {
      if (part.held !== "") {
        delta = part.held + text;
        part.held = "";
      }
      const last = delta.charCodeAt(delta.length - 1);
      if (last >= 0xd800 && last <= 0xdbff) {
        part.held = delta.slice(-1);
        delta = delta.slice(0, -1);
        if (delta === "") return;
      }
    }
    this.#delta(part, index, delta);
  }

  /** Closes a part of whatever kind, with nothing to add. */
  close(index: number): void {
    this.closeText(index);
    this.closeThinking(index);
    this.closeToolCall(index);
  }

  closeText(contentIndex: number, textSignature?: string): void {
    const part = this.#close(contentIndex, "text");
    if (part?.type !== "text") return;
    this.#write({ type: "text_end", contentIndex, content: part.text, ...defined({ textSignature }) });
  }

  closeThinking(contentIndex: number, thinkingSignature?: string, redacted = false): void {
    const part = this.#close(contentIndex, "thinking");
    if (part?.type !== "thinking") return;
    const extra = defined({ thinkingSignature, redacted: redacted || undefined });
    this.#write({ type: "thinking_end", contentIndex, content: part.thinking, ...extra });
  }

  /** Closes a tool call: its text is parsed strictly, and a defect becomes `argumentsError`. `text` replaces what streamed. */
  closeToolCall(contentIndex: number, { text, ...signature }: { thoughtSignature?: string; text?: string } = {}): void {
    const part = this.#close(contentIndex, "toolCall");
    if (part?.type !== "toolCall") return;
    const { type, id, name } = part;
    const argumentsText = text ?? part.argumentsText ?? "";
    const { arguments: args, error: argumentsError } = parseToolArguments(argumentsText);
    const call = defined({ type, id, name, arguments: args, argumentsText, argumentsError });
    const toolCall: ToolCall = { ...call, ...signature };
    this.#write({ type: "toolcall_end", contentIndex, toolCall });
  }

  opaque(part: OpaqueContent): void {
    this.#write({ type: "opaque_end", contentIndex: this.#next, part });
  }

  /** Sets what only the message as a whole has. */
  describe({
    usage,
    ...rest
  }: {
    responseModel?: string;
    responseId?: string;
    rawStopReason?: string;
    paused?: boolean;
    usage?: Usage;
  }): void {
    Object.assign(this.message, rest, usage && { usage: withTotal(usage) });
  }

  /** Ends well. Parts still open are closed first. */
  done(reason: "stop" | "length" | "toolUse"): void {
    this.#end({ stopReason: reason }, { type: "done", reason, message: this.message });
  }

  /** Ends badly, keeping what came; a message that ends so never has its calls run. */
  fail(error: BowlineError): void {
    const failure = failureOf(error);
    this.#end(failure, { type: "error", reason: failure.stopReason, error: this.message });
  }

  #end(fields: Partial<AssistantMessage>, event: Body<AssistantMessageEvent>): void {
    if (this.#ended) return;
    this.#open.forEach((_, index) => this.close(index));
    Object.assign(this.message, fields);
    this.#write(event);
    this.#ended = true;
  }

  /** The place of the next part. */
  get #next(): number {
    return this.message.content.length;
  }

  #openPart(kind: PartKind, start: Body<AssistantMessageEvent>): number {
    const index = this.#next;
    this.#write(start);
    const live = this.message.content[index];
    this.#open[index] = { kind, deltaType: deltaTypes[kind], live, held: "", joined: "", pieces: [] };
    return index;
  }

  /** The part as it stands, if it was open and is of this kind. */
  #close(index: number, kind: PartKind): AssistantContent | undefined {
    const part = this.#open[index];
    if (part?.kind !== kind) return undefined;
    if (part.held !== "") this.#delta(part, index, part.held);
    this.#open[index] = undefined;
    return this.message.content[index];
  }

  /** What the reducer does with a delta, without the event: it comes by the thousand. */
  #delta(part: OpenPart, index: number, delta: string): void {
    this.#batch.push(new LiveDelta(part.deltaType, this.#attempt, index, delta, this.message));
    const { live } = part;
    const isEnough = part.pieces.push(delta) === PIECES;
    if (isEnough) {
      part.joined += part.pieces.join("");
      part.pieces = [];
    }
    if (live?.type === "text") live.text = isEnough ? part.joined : live.text + delta;
    else if (live?.type === "thinking") live.thinking = isEnough ? part.joined : live.thinking + delta;
    else if (live?.type === "toolCall") live.argumentsText = isEnough ? part.joined : live.argumentsText + delta;
  }

  #write(body: Body<AssistantMessageEvent>): void {
    if (this.#ended) return;
    if (!this.#started) {
      this.#started = true;
      this.#push({ type: "start", ...this.#origin });
    }
    applyEvent(this.message, this.#push(body));
  }

  #push(body: Body<AssistantMessageEvent>): AssistantMessageEvent {
    const event = withPartial<AssistantMessageEvent>({ ...body, attempt: this.#attempt }, this.message);
    this.#batch.push(event);
    return event;
  }
}
