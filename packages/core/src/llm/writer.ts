/**
 * Writes a message as a sequence of events and folds the same events into the live message, with
 * `applyEvent` and, for deltas, `appendDelta`. All decoders and the scripted model use it, so the
 * events and the final message cannot disagree.
 */
import { BowlineError } from "../errors.ts";
import { defined } from "../json-value.ts";
import { appendDelta, type DeltaType } from "./append-delta.ts";
import {
  applyEvent,
  emptyMessage,
  failureOf,
  type AssistantMessageEvent,
  type EventBody,
  type MessageOrigin,
  type PartStart,
  type ProviderToolEvent,
} from "./event.ts";
import { GrowingText } from "./growing-text.ts";
import { LiveDelta, withPartial } from "./live.ts";
import type {
  AssistantContent,
  AssistantMessage,
  OpaqueContent,
  ToolCall,
  WholeContent,
} from "./message.ts";
import { parseToolArguments } from "./tool-arguments.ts";
import { withTotal, type Usage } from "./usage.ts";

export type { MessageOrigin } from "./event.ts";

/** A part that is still being written. */
interface OpenPart {
  readonly deltaType: DeltaType;
  /** The part in the live message. */
  readonly live: AssistantContent;
  /** The first half of a surrogate pair, held until the second half arrives. */
  // Q091
  held: string;
  readonly text: GrowingText;
}

/**
 * Fields that the end of a part may add. `thinkingSignature` and `redacted` are for thinking. For a
 * tool call, `text` replaces the streamed arguments.
 */
interface PartEnd {
  readonly textSignature?: string | undefined;
  readonly thinkingSignature?: string | undefined;
  readonly redacted?: true | undefined;
  readonly thoughtSignature?: string | undefined;
  readonly text?: string | undefined;
}

export class MessageWriter {
  declare readonly message: AssistantMessage;
  readonly #origin: MessageOrigin;
  readonly #attempt: number;
  readonly #maxLength: number;
  #length = 0;
  /** By index in `message.content`. */
  readonly #open: (OpenPart | undefined)[] = [];
  /** The part that {@link say} appends to. */
  #saying: { readonly kind: "text" | "thinking"; readonly index: number } | undefined;
  #batch: AssistantMessageEvent[] = [];
  #started = false;
  #ended = false;

  /**
   * `maxLength` limits the characters of all texts, thoughts, arguments, sources and media. A longer
   * answer throws `stream_corrupt`.
   */
  constructor(origin: MessageOrigin, attempt = 1, maxLength: number = Infinity) {
    this.#attempt = attempt;
    this.#maxLength = maxLength;
    this.#origin = origin;
    this.message = emptyMessage(origin);
  }

  /**
   * Whether any event was written. Until then a request can be retried without the reader noticing.
   */
  get started(): boolean {
    return this.#started;
  }

  /** Whether `done` or `error` was written. Later writes are ignored. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Returns the events written since the last call. */
  take(): AssistantMessageEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  /**
   * Appends text or thinking to the current part. Opens a new part if the current one is of the
   * other kind or closed.
   */
  say(kind: "text" | "thinking", text: string, field?: string): void {
    if (text === "") return; // empty text opens no part (Q072)
    if (this.#saying?.kind !== kind) {
      this.endSaying();
      this.#saying = { kind, index: kind === "text" ? this.openText() : this.openThinking(field) };
    }
    this.append(this.#saying.index, text);
  }

  /** Closes the part that {@link say} wrote last. */
  endSaying(end?: PartEnd): void {
    if (this.#saying) this.close(this.#saying.index, end);
    this.#saying = undefined;
  }

  openText(): number {
    return this.#openPart("text_start", "text_delta");
  }

  openThinking(field?: string): number {
    return this.#openPart("thinking_start", "thinking_delta", defined({ field }));
  }

  openToolCall(id: string, name: string): number {
    return this.#openPart("toolcall_start", "toolcall_delta", { id, name });
  }

  /** Appends to an open part. Empty text emits no event. */
  append(index: number, text: string): void {
    const part = this.#open[index];
    if (part === undefined || text === "") return;
    this.#count(text.length);
    let delta = text;
    if (part.held !== "") {
      delta = part.held + text;
      part.held = "";
    }
    if ((delta.charCodeAt(delta.length - 1) & 0xfc00) === 0xd800) {
      part.held = delta.slice(-1);
      delta = delta.slice(0, -1);
      if (delta === "") return;
    }
    this.#delta(part, index, delta);
  }

  /**
   * Closes a part; does nothing if the part is not open. Parses the arguments of a tool call
   * strictly, and reports a defect as `argumentsError`.
   */
  close(contentIndex: number, end: PartEnd = {}): void {
    const part = this.#open[contentIndex];
    if (part === undefined) return;
    if (part.held !== "") this.#delta(part, contentIndex, part.held);
    this.#open[contentIndex] = undefined;
    const { live } = part;
    const extra = defined(end);
    if (live.type === "text")
      this.#write({ type: "text_end", contentIndex, content: live.text, ...extra });
    if (live.type === "thinking")
      this.#write({ type: "thinking_end", contentIndex, content: live.thinking, ...extra });
    if (live.type !== "toolCall") return;
    const { text: argumentsText = live.argumentsText ?? "", ...signature } = extra;
    const { arguments: args, error } = parseToolArguments(argumentsText);
    const defect = error !== undefined && { argumentsError: error };
    const toolCall: ToolCall = { ...live, arguments: args, argumentsText, ...defect, ...signature };
    this.#write({ type: "toolcall_end", contentIndex, toolCall });
  }

  opaque(part: OpaqueContent): void {
    this.#write({ type: "opaque_end", contentIndex: this.message.content.length, part });
  }

  /** Writes a source, image or file. */
  whole(part: WholeContent): void {
    for (const value of Object.values(part) as unknown[])
      if (typeof value === "string") this.#count(value.length);
    this.#write({ type: "part_end", contentIndex: this.message.content.length, part });
  }

  /** Reports the progress of a tool that the vendor runs. */
  progress(id: string, toolName: string, status: ProviderToolEvent["status"]): void {
    this.#write({ type: "provider_tool", id, toolName, status });
  }

  /** Sets fields of the message as a whole. */
  describe(facts: {
    responseModel?: string;
    responseId?: string;
    rawStopReason?: string;
    paused?: boolean;
    usage?: Usage;
  }): void {
    Object.assign(this.message, facts, facts.usage && { usage: withTotal(facts.usage) });
  }

  /** Ends the message successfully, after closing open parts. */
  done(reason: "stop" | "length" | "toolUse"): void {
    this.#end({ stopReason: reason }, { type: "done", reason, message: this.message });
  }

  /**
   * Ends the message with an error and keeps its content so far. The tool calls of such a message
   * never run.
   */
  fail(error: BowlineError): void {
    const failure = failureOf(error);
    this.#end(failure, { type: "error", reason: failure.stopReason, error: this.message });
  }

  #count(length: number): void {
    if ((this.#length += length) <= this.#maxLength) return;
    throw new BowlineError(
      "stream_corrupt",
      `The answer is longer than ${this.#maxLength} characters.`,
    );
  }

  #end(fields: Partial<AssistantMessage>, event: EventBody): void {
    if (this.#ended) return;
    this.#open.forEach((_, index) => this.close(index));
    Object.assign(this.message, fields);
    this.#write(event);
    this.#ended = true;
  }

  /** Opens a part at the next index. */
  #openPart(type: PartStart["type"], deltaType: DeltaType, fields: object = {}): number {
    const { content } = this.message;
    const contentIndex = content.length;
    this.#write({ type, contentIndex, ...fields } as EventBody<PartStart>);
    const live = content[contentIndex];
    if (live !== undefined)
      // `live` is undefined after the end.
      this.#open[contentIndex] = { deltaType, live, held: "", text: new GrowingText() };
    return contentIndex;
  }

  /** Like `#write`, without checking the event type: a stream has thousands of deltas. */
  #delta({ deltaType, live, text }: OpenPart, index: number, delta: string): void {
    this.#batch.push(new LiveDelta(deltaType, this.#attempt, index, delta, this.message));
    appendDelta(live, deltaType, delta, text);
  }

  #write(body: EventBody): void {
    if (this.#ended) return;
    if (!this.#started) {
      this.#started = true;
      this.#write({ type: "start", ...this.#origin });
    }
    const event = withPartial<AssistantMessageEvent>(
      { ...body, attempt: this.#attempt },
      this.message,
    );
    this.#batch.push(event);
    applyEvent(this.message, event);
  }
}
