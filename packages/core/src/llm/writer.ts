/**
 * Writes a message as a sequence of events and keeps the live message by folding those same events with the one reducer. Every
 * decoder and the scripted model write through it, so the events and the final message cannot disagree.
 */
import { toErrorInfo, type BowlineError } from "../errors.ts";
import { applyEvent, type AssistantMessageEvent } from "./event.ts";
import { LiveDelta, withPartial } from "./live.ts";
import type { AssistantMessage, OpaqueContent, ToolCall } from "./message.ts";
import { parseToolArguments } from "./tool-arguments.ts";
import { withTotal, type Usage } from "./usage.ts";

export interface MessageOrigin {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly timestamp: number;
}

type PartKind = "text" | "thinking" | "toolCall";

/** One part that is still being written. `held` is half a surrogate pair, kept until its other half comes (Q091). */
interface OpenPart {
  readonly kind: PartKind;
  readonly index: number;
  held: string;
}

export class MessageWriter {
  readonly message: AssistantMessage;
  readonly attempt: number;
  readonly #open = new Map<number, OpenPart>();
  #batch: AssistantMessageEvent[] = [];
  #started = false;
  #ended = false;

  constructor(origin: MessageOrigin, attempt = 1) {
    this.attempt = attempt;
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
    const index = this.#openPart("text");
    this.#write({ type: "text_start", attempt: this.attempt, contentIndex: index });
    return index;
  }

  openThinking(field?: string): number {
    const index = this.#openPart("thinking");
    this.#write({
      type: "thinking_start",
      attempt: this.attempt,
      contentIndex: index,
      ...(field !== undefined && { field }),
    });
    return index;
  }

  openToolCall(id: string, name: string): number {
    const index = this.#openPart("toolCall");
    this.#write({ type: "toolcall_start", attempt: this.attempt, contentIndex: index, id, name });
    return index;
  }

  /** Appends to an open part. Empty text is no event. */
  append(index: number, text: string): void {
    const part = this.#open.get(index);
    if (part === undefined || text === "" || this.#ended) return;
    if (part.kind === "toolCall") return this.#delta("toolcall_delta", index, text);
    let delta = part.held === "" ? text : part.held + text;
    part.held = "";
    const last = delta.charCodeAt(delta.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      part.held = delta.slice(-1);
      delta = delta.slice(0, -1);
      if (delta === "") return;
    }
    this.#delta(part.kind === "text" ? "text_delta" : "thinking_delta", index, delta);
  }

  /** Closes a text part. */
  closeText(index: number, textSignature?: string): void {
    const part = this.#close(index);
    if (part === undefined) return;
    const content = this.message.content[index];
    this.#write({
      type: "text_end",
      attempt: this.attempt,
      contentIndex: index,
      content: content?.type === "text" ? content.text : "",
      ...(textSignature !== undefined && { textSignature }),
    });
  }

  closeThinking(index: number, thinkingSignature?: string, redacted = false): void {
    const part = this.#close(index);
    if (part === undefined) return;
    const content = this.message.content[index];
    this.#write({
      type: "thinking_end",
      attempt: this.attempt,
      contentIndex: index,
      content: content?.type === "thinking" ? content.thinking : "",
      ...(thinkingSignature !== undefined && { thinkingSignature }),
      ...(redacted && { redacted }),
    });
  }

  /** Closes a tool call: its text is parsed strictly, and a defect becomes `argumentsError`. `text` replaces what streamed. */
  closeToolCall(index: number, extra: { readonly thoughtSignature?: string; readonly text?: string } = {}): void {
    const part = this.#close(index);
    const content = this.message.content[index];
    if (part === undefined || content?.type !== "toolCall") return;
    const text = extra.text ?? content.argumentsText ?? "";
    const parsed = parseToolArguments(text);
    const toolCall: ToolCall = {
      type: "toolCall",
      id: content.id,
      name: content.name,
      arguments: parsed.arguments,
      argumentsText: text,
      ...(parsed.error !== undefined && { argumentsError: parsed.error }),
      ...(extra.thoughtSignature !== undefined && { thoughtSignature: extra.thoughtSignature }),
    };
    this.#write({ type: "toolcall_end", attempt: this.attempt, contentIndex: index, toolCall });
  }

  opaque(part: OpaqueContent): void {
    this.#write({ type: "opaque_end", attempt: this.attempt, contentIndex: this.message.content.length, part });
  }

  /** Sets what only the message as a whole has. */
  describe(fields: { responseModel?: string; responseId?: string; rawStopReason?: string; usage?: Usage }): void {
    const { usage, ...rest } = fields;
    Object.assign(this.message, rest);
    if (usage !== undefined) this.message.usage = withTotal(usage);
  }

  /** Ends well. Parts still open are closed first. */
  done(reason: "stop" | "length" | "toolUse"): void {
    if (this.#ended) return;
    this.#closeAll();
    this.message.stopReason = reason;
    this.#write({ type: "done", attempt: this.attempt, reason, message: this.message });
    this.#ended = true;
  }

  /** Ends badly, keeping what came; a message that ends so never has its calls run. */
  fail(error: BowlineError): void {
    if (this.#ended) return;
    const reason = error.code === "aborted" ? "aborted" : "error";
    this.#closeAll();
    Object.assign(this.message, { stopReason: reason, errorMessage: error.message, error: toErrorInfo(error) });
    this.#write({ type: "error", attempt: this.attempt, reason, error: this.message });
    this.#ended = true;
  }

  #closeAll(): void {
    for (const { kind, index } of this.#open.values()) {
      if (kind === "text") this.closeText(index);
      else if (kind === "thinking") this.closeThinking(index);
      else this.closeToolCall(index);
    }
  }

  #openPart(kind: PartKind): number {
    const index = this.message.content.length;
    this.#open.set(index, { kind, index, held: "" });
    return index;
  }

  #close(index: number): OpenPart | undefined {
    const part = this.#open.get(index);
    if (part === undefined) return undefined;
    if (part.held !== "") this.#delta(part.kind === "text" ? "text_delta" : "thinking_delta", index, part.held);
    this.#open.delete(index);
    return part;
  }

  #delta(type: LiveDelta["type"], index: number, delta: string): void {
    const event = new LiveDelta(type, this.attempt, index, delta, this.message);
    applyEvent(this.message, event);
    this.#batch.push(event);
  }

  #write(event: AssistantMessageEvent): void {
    if (this.#ended) return;
    if (!this.#started) {
      this.#started = true;
      const { api, provider, model, timestamp } = this.message;
      this.#batch.push(
        withPartial({ type: "start", attempt: this.attempt, api, provider, model, timestamp }, this.message),
      );
    }
    applyEvent(this.message, event);
    this.#batch.push(withPartial(event, this.message));
  }
}
