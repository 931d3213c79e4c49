/**
 * Writes a message as a sequence of events and keeps the live message by folding those same events with the one reducer. Every
 * decoder and the scripted model write through it, so the events and the final message cannot disagree.
 */
import { toErrorInfo, type BowlineError } from "../errors.ts";
import { applyEvent, type AssistantMessageEvent } from "./event.ts";
import { LiveDelta, withPartial } from "./live.ts";
import type { AssistantContent, AssistantMessage, OpaqueContent, ToolCall } from "./message.ts";
import { parseToolArguments } from "./tool-arguments.ts";
import { withTotal, type Usage } from "./usage.ts";

export interface MessageOrigin {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly timestamp: number;
}

type PartKind = "text" | "thinking" | "toolCall";

/** What the kinds' events are called. */
const stems = { text: "text", thinking: "thinking", toolCall: "toolcall" } as const;

/** One part that is still being written. `held` is half a surrogate pair, kept until its other half comes (Q091). */
interface OpenPart {
  readonly kind: PartKind;
  held: string;
}

/** An event without what every event of this writer has. */
type Body<T> = T extends unknown ? Omit<T, "attempt" | "partial"> : never;

export class MessageWriter {
  readonly message: AssistantMessage;
  readonly #attempt: number;
  readonly #open = new Map<number, OpenPart>();
  #batch: AssistantMessageEvent[] = [];
  #started = false;
  #ended = false;

  constructor(origin: MessageOrigin, attempt = 1) {
    this.#attempt = attempt;
    this.message = applyEvent(undefined, { type: "start", attempt, ...origin }) as AssistantMessage;
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
    return this.#openPart("text", (contentIndex) => ({ type: "text_start", contentIndex }));
  }

  openThinking(field?: string): number {
    const extra = field === undefined ? {} : { field };
    return this.#openPart("thinking", (contentIndex) => ({ type: "thinking_start", contentIndex, ...extra }));
  }

  openToolCall(id: string, name: string): number {
    return this.#openPart("toolCall", (contentIndex) => ({ type: "toolcall_start", contentIndex, id, name }));
  }

  /** Appends to an open part. Empty text is no event. */
  append(index: number, text: string): void {
    const part = this.#open.get(index);
    if (part === undefined || text === "" || this.#ended) return;
    let delta = text;
    if (part.kind !== "toolCall") {
      if (part.held !== "") delta = part.held + text;
      const last = delta.charCodeAt(delta.length - 1);
      const isHalf = last >= 0xd800 && last <= 0xdbff;
      part.held = isHalf ? delta.slice(-1) : "";
      if (isHalf) delta = delta.slice(0, -1);
      if (delta === "") return;
    }
    this.#delta(part.kind, index, delta);
  }

  /** Closes a part of whatever kind, with nothing to add. */
  close(index: number): void {
    const kind = this.#open.get(index)?.kind;
    if (kind === "text") this.closeText(index);
    else if (kind === "thinking") this.closeThinking(index);
    else this.closeToolCall(index);
  }

  closeText(contentIndex: number, textSignature?: string): void {
    const part = this.#close(contentIndex);
    if (part?.type !== "text") return;
    const extra = textSignature === undefined ? {} : { textSignature };
    this.#write({ type: "text_end", contentIndex, content: part.text, ...extra });
  }

  closeThinking(contentIndex: number, thinkingSignature?: string, redacted = false): void {
    const part = this.#close(contentIndex);
    if (part?.type !== "thinking") return;
    const extra = { ...(thinkingSignature !== undefined && { thinkingSignature }), ...(redacted && { redacted }) };
    this.#write({ type: "thinking_end", contentIndex, content: part.thinking, ...extra });
  }

  /** Closes a tool call: its text is parsed strictly, and a defect becomes `argumentsError`. `text` replaces what streamed. */
  closeToolCall(contentIndex: number, { text, ...signature }: { thoughtSignature?: string; text?: string } = {}): void {
    const part = this.#close(contentIndex);
    if (part?.type !== "toolCall") return;
    const { type, id, name } = part;
    const argumentsText = text ?? part.argumentsText ?? "";
    const { arguments: args, error } = parseToolArguments(argumentsText);
    const defect = error === undefined ? {} : { argumentsError: error };
    const toolCall: ToolCall = { type, id, name, arguments: args, argumentsText, ...defect, ...signature };
    this.#write({ type: "toolcall_end", contentIndex, toolCall });
  }

  opaque(part: OpaqueContent): void {
    this.#write({ type: "opaque_end", contentIndex: this.message.content.length, part });
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
    Object.assign(this.message, rest);
    if (usage !== undefined) this.message.usage = withTotal(usage);
  }

  /** Ends well. Parts still open are closed first. */
  done(reason: "stop" | "length" | "toolUse"): void {
    this.#end({ stopReason: reason }, { type: "done", reason, message: this.message });
  }

  /** Ends badly, keeping what came; a message that ends so never has its calls run. */
  fail(error: BowlineError): void {
    const reason = error.code === "aborted" ? "aborted" : "error";
    const why = { stopReason: reason, errorMessage: error.message, error: toErrorInfo(error) } as const;
    this.#end(why, { type: "error", reason, error: this.message });
  }

  #end(fields: Partial<AssistantMessage>, event: Body<AssistantMessageEvent>): void {
    if (this.#ended) return;
    for (const index of this.#open.keys()) this.close(index);
    Object.assign(this.message, fields);
    this.#write(event);
    this.#ended = true;
  }

  #openPart(kind: PartKind, start: (contentIndex: number) => Body<AssistantMessageEvent>): number {
    const index = this.message.content.length;
    this.#open.set(index, { kind, held: "" });
    this.#write(start(index));
    return index;
  }

  /** The part as it stands, if it was open. */
  #close(index: number): AssistantContent | undefined {
    const part = this.#open.get(index);
    if (part === undefined) return undefined;
    if (part.held !== "") this.#delta(part.kind, index, part.held);
    this.#open.delete(index);
    return this.message.content[index];
  }

  #delta(kind: PartKind, index: number, delta: string): void {
    const event = new LiveDelta(`${stems[kind]}_delta`, this.#attempt, index, delta, this.message);
    applyEvent(this.message, event);
    this.#batch.push(event);
  }

  #write(body: Body<AssistantMessageEvent>): void {
    if (this.#ended) return;
    if (!this.#started) {
      this.#started = true;
      const { api, provider, model, timestamp } = this.message;
      this.#push({ type: "start", api, provider, model, timestamp });
    }
    applyEvent(this.message, this.#push(body));
  }

  #push(body: Body<AssistantMessageEvent>): AssistantMessageEvent {
    const event = withPartial<AssistantMessageEvent>({ ...body, attempt: this.#attempt }, this.message);
    this.#batch.push(event);
    return event;
  }
}
