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

/** One part that is still being written. `held` is half a surrogate pair, kept until its other half comes (Q091). */
interface OpenPart {
  readonly kind: PartKind;
  /** What its events are called. */
  readonly delta: LiveDelta["type"];
  held: string;
}

/** An event without what every event of this writer has. */
type Body<T> = T extends unknown ? Omit<T, "attempt" | "partial"> : never;

export interface MessageWriter {
  readonly message: AssistantMessage;
  /** Whether anything was written; before that a request may be asked again unseen. */
  readonly started: boolean;
  /** Whether `done` or `error` was written; later writes are dropped. */
  readonly ended: boolean;
  /** The events written since the last call. */
  take(): AssistantMessageEvent[];
  openText(): number;
  openThinking(field?: string): number;
  openToolCall(id: string, name: string): number;
  /** Appends to an open part. Empty text is no event. */
  append(index: number, text: string): void;
  /** Closes a part of whatever kind, with nothing to add. */
  close(index: number): void;
  closeText(index: number, textSignature?: string): void;
  closeThinking(index: number, thinkingSignature?: string, redacted?: boolean): void;
  /** Closes a tool call: its text is parsed strictly, and a defect becomes `argumentsError`. `text` replaces what streamed. */
  closeToolCall(index: number, facts?: { readonly thoughtSignature?: string; readonly text?: string }): void;
  opaque(part: OpaqueContent): void;
  /** Sets what only the message as a whole has. */
  describe(facts: {
    responseModel?: string;
    responseId?: string;
    rawStopReason?: string;
    paused?: boolean;
    usage?: Usage;
  }): void;
  /** Ends well. Parts still open are closed first. */
  done(reason: "stop" | "length" | "toolUse"): void;
  /** Ends badly, keeping what came; a message that ends so never has its calls run. */
  fail(error: BowlineError): void;
}

export function createMessageWriter(origin: MessageOrigin, attempt = 1): MessageWriter {
  const message = emptyMessage(origin);
  const { content } = message;
  const open = new Map<number, OpenPart>();
  let batch: AssistantMessageEvent[] = [];
  let started = false;
  let ended = false;
  return {
    message,
    get started() {
      return started;
    },
    get ended() {
      return ended;
    },
    take() {
      const taken = batch;
      if (taken.length > 0) batch = [];
      return taken;
    },
    openText: () => openPart("text", { type: "text_start", contentIndex: content.length }),
    openThinking: (field) =>
      openPart("thinking", { type: "thinking_start", contentIndex: content.length, ...defined({ field }) }),
    openToolCall: (id, name) =>
      openPart("toolCall", { type: "toolcall_start", contentIndex: content.length, id, name }),
    append,
    close,
    closeText,
    closeThinking,
    closeToolCall,
    opaque: (part) => write({ type: "opaque_end", contentIndex: content.length, part }),
    describe({ usage, ...rest }) {
      Object.assign(message, rest, usage && { usage: withTotal(usage) });
    },
    done: (reason) => end({ stopReason: reason }, { type: "done", reason, message }),
    fail(error) {
      const failure = failureOf(error);
      end(failure, { type: "error", reason: failure.stopReason, error: message });
    },
  };

  function append(index: number, text: string): void {
    const part = open.get(index);
    if (part === undefined || text === "" || ended) return;
    let delta = text;
    if (part.kind !== "toolCall") {
      delta = part.held + text;
      const last = delta.charCodeAt(delta.length - 1);
      const isHalf = last >= 0xd800 && last <= 0xdbff;
      part.held = isHalf ? delta.slice(-1) : "";
      if (isHalf) delta = delta.slice(0, -1);
      if (delta === "") return;
    }
    writeDelta(part, index, delta);
  }

  function close(index: number): void {
    closeText(index);
    closeThinking(index);
    closeToolCall(index);
  }

  function closeText(contentIndex: number, textSignature?: string): void {
    const part = closePart(contentIndex, "text");
    if (part?.type !== "text") return;
    write({ type: "text_end", contentIndex, content: part.text, ...defined({ textSignature }) });
  }

  function closeThinking(contentIndex: number, thinkingSignature?: string, redacted = false): void {
    const part = closePart(contentIndex, "thinking");
    if (part?.type !== "thinking") return;
    const extra = defined({ thinkingSignature, redacted: redacted || undefined });
    write({ type: "thinking_end", contentIndex, content: part.thinking, ...extra });
  }

  function closeToolCall(
    contentIndex: number,
    { text, ...signature }: { readonly thoughtSignature?: string; readonly text?: string } = {},
  ): void {
    const part = closePart(contentIndex, "toolCall");
    if (part?.type !== "toolCall") return;
    const { type, id, name } = part;
    const argumentsText = text ?? part.argumentsText ?? "";
    const { arguments: args, error: argumentsError } = parseToolArguments(argumentsText);
    const toolCall: ToolCall = {
      ...defined({ type, id, name, arguments: args, argumentsText, argumentsError }),
      ...signature,
    };
    write({ type: "toolcall_end", contentIndex, toolCall });
  }

  function end(fields: Partial<AssistantMessage>, event: Body<AssistantMessageEvent>): void {
    if (ended) return;
    for (const index of open.keys()) close(index);
    Object.assign(message, fields);
    write(event);
    ended = true;
  }

  function openPart(kind: PartKind, event: Body<AssistantMessageEvent>): number {
    const index = content.length;
    open.set(index, { kind, delta: `${kind.toLowerCase() as Lowercase<PartKind>}_delta`, held: "" });
    write(event);
    return index;
  }

  /** The part as it stands, if it was open and is of this kind. */
  function closePart(index: number, kind: PartKind): AssistantContent | undefined {
    const part = open.get(index);
    if (part?.kind !== kind) return undefined;
    if (part.held !== "") writeDelta(part, index, part.held);
    open.delete(index);
    return content[index];
  }

  function writeDelta(part: OpenPart, index: number, delta: string): void {
    const event = new LiveDelta(part.delta, attempt, index, delta, message);
    applyEvent(message, event);
    batch.push(event);
  }

  function write(body: Body<AssistantMessageEvent>): void {
    if (ended) return;
    if (!started) {
      started = true;
      push({ type: "start", ...origin });
    }
    applyEvent(message, push(body));
  }

  function push(body: Body<AssistantMessageEvent>): AssistantMessageEvent {
    const event = withPartial<AssistantMessageEvent>({ ...body, attempt }, message);
    batch.push(event);
    return event;
  }
}
