/**
 * One step of the shown message: an answer of the model, and what became of its calls. Every change
 * returns the chunks that bring a page to the new state.
 */
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantContent, AssistantMessage, ToolCall, WholeContent } from "../llm/message.ts";
import type { UIDataChunk, UIMessageChunk, UIWholeChunk } from "./chunk.ts";
import type { UIStreamSettings } from "./options.ts";
import { ShownCall } from "./shown-call.ts";
import { wholeChunk } from "./whole-part.ts";

interface ShownText {
  readonly kind: "text" | "reasoning";
  readonly contentIndex: number;
  readonly id: string;
  text: string;
  isOpen: boolean;
}

export interface ShownData {
  readonly kind: "data";
  readonly contentIndex?: undefined;
  chunk: UIDataChunk;
}

interface ShownWhole {
  readonly kind: "whole";
  readonly contentIndex: number;
  readonly chunk: UIWholeChunk;
}

export type ShownPart = ShownText | ShownCall | ShownData | ShownWhole;

/** What a step needs of its message. */
export interface StepPort {
  readonly settings: UIStreamSettings;
  readonly runId: string;
  /** Returns an id for a call that no other call of the message has. */
  readonly newCallId: (callId: string) => string;
  /** Called with parts that the step shows no longer. */
  readonly forget: (parts: readonly ShownPart[]) => void;
}

export class ShownStep {
  readonly kind = "step";
  readonly #port: StepPort;
  readonly #number: number;
  parts: ShownPart[] = [];
  isOpen = true;
  /** The calls of {@link parts} by their run and id, so that finding one does not read them all. */
  readonly #callsById = new Map<string, ShownCall[]>();

  constructor(port: StepPort, number: number) {
    this.#port = port;
    this.#number = number;
  }

  get calls(): ShownCall[] {
    return this.parts.filter((part) => part.kind === "call");
  }

  /** Returns the calls of a run with this id, in order. Servers may repeat an id. */
  callsOf(about: { readonly runId: string; readonly callId: string }): readonly ShownCall[] {
    return this.#callsById.get(keyOf(about)) ?? [];
  }

  /** Returns the chunks that create the given parts, without the boundaries of the step. */
  replay(parts: readonly ShownPart[] = this.parts): UIMessageChunk[] {
    return parts.flatMap((part) => chunksOf(part));
  }

  addCall(
    callId: string,
    name: string,
    about: { runId?: string; contentIndex?: number },
  ): ShownCall {
    const { runId = this.#port.runId, contentIndex } = about;
    const id = this.#port.newCallId(callId);
    const isHeldBack = this.#port.settings.approvals === "end";
    const call = new ShownCall({ runId, callId, name, contentIndex, id }, isHeldBack);
    this.parts.push(call);
    const key = keyOf(call.names);
    const same = this.#callsById.get(key);
    if (same) same.push(call);
    else this.#callsById.set(key, [call]);
    return call;
  }

  /** Applies a piece of the answer. */
  update(event: AssistantMessageEvent): UIMessageChunk[] {
    switch (event.type) {
      case "text_delta":
        return this.#grow("text", event.contentIndex, event.delta);
      case "thinking_delta":
        return this.#grow("reasoning", event.contentIndex, event.delta);
      case "text_end":
      case "thinking_end":
        return this.#close(event.contentIndex);
      case "toolcall_start":
        return this.addCall(event.id, event.name, event).chunks();
      case "toolcall_delta":
        return this.#callAt(event.contentIndex)?.append(event.delta) ?? [];
      case "toolcall_end":
        return this.#completeCall(this.#callAt(event.contentIndex), event.toolCall);
      case "part_end":
        return this.#addWhole(event.part, event.contentIndex);
      case "message_retract":
        return this.#retract(event.contentIndex);
      // A text or thinking part is shown from its first delta on.
      case "text_start":
      case "thinking_start":
      // A provider's own block has no form that a page knows.
      case "opaque_end":
      case "provider_tool":
      // Nothing of the answer changes.
      case "start":
      case "request_retry":
      case "model_failover":
      // The whole message follows in `message_end`.
      case "done":
      case "error":
        return [];
    }
  }

  /** Adds what was not streamed. Replaces all if something else was streamed. */
  complete({ content }: AssistantMessage): UIMessageChunk[] {
    const chunks = this.#add(content);
    if (chunks) return chunks;
    this.#keep([]);
    this.#add(content);
    return [{ type: "reset-step" }, ...this.replay()];
  }

  /** Returns undefined if the shown parts are not the beginning of these. */
  #add(content: readonly AssistantContent[]): UIMessageChunk[] | undefined {
    const shown = new Map(this.parts.map((part) => [part.contentIndex, part]));
    const last = Math.max(-1, ...this.parts.map(({ contentIndex = -1 }) => contentIndex));
    if (last >= content.length) return undefined;
    const chunks: UIMessageChunk[] = [];
    for (const [index, part] of content.entries()) {
      const known = shown.get(index);
      const added = this.#addPart(known, part, index);
      if (!added || (known === undefined && added.length > 0 && index < last)) return undefined;
      chunks.push(...added);
    }
    return chunks;
  }

  #addPart(
    known: ShownPart | undefined,
    part: AssistantContent,
    index: number,
  ): UIMessageChunk[] | undefined {
    switch (part.type) {
      case "text":
        return this.#addText(known, "text", part.text, index);
      case "thinking":
        return this.#addText(known, "reasoning", part.thinking, index);
      case "toolCall": {
        if (known && (known.kind !== "call" || known.names.callId !== part.id)) return undefined;
        const call = known ?? this.addCall(part.id, part.name, { contentIndex: index });
        return this.#completeCall(call, part);
      }
      case "opaque":
        return known ? undefined : [];
      case "source":
      case "image":
      case "file":
        if (known === undefined) return this.#addWhole(part, index);
        return known.kind === "whole" ? [] : undefined;
    }
  }

  #addWhole(part: WholeContent, contentIndex: number): UIMessageChunk[] {
    const chunk = wholeChunk(part, `${this.#number}.${contentIndex}`);
    if (chunk === undefined) return [];
    this.parts.push({ kind: "whole", contentIndex, chunk });
    return [chunk];
  }

  #addText(
    known: ShownPart | undefined,
    kind: ShownText["kind"],
    text: string,
    index: number,
  ): UIMessageChunk[] | undefined {
    const isOther = known && (known.kind !== kind || !text.startsWith(known.text));
    if (isOther) return undefined;
    const before = known?.kind === kind ? known.text.length : 0;
    return [...this.#grow(kind, index, text.slice(before)), ...this.#close(index)];
  }

  #grow(kind: ShownText["kind"], contentIndex: number, delta: string): UIMessageChunk[] {
    if (delta === "" || (kind === "reasoning" && !this.#port.settings.reasoning)) return [];
    const chunks: UIMessageChunk[] = [];
    let part = this.#at(contentIndex);
    if (part?.kind !== kind) {
      const id = `${this.#number}.${contentIndex}`;
      part = { kind, contentIndex, id, text: "", isOpen: true };
      this.parts.push(part);
      chunks.push({ type: `${kind}-start`, id });
    }
    part.text += delta;
    chunks.push({ type: `${kind}-delta`, id: part.id, delta });
    return chunks;
  }

  #close(contentIndex: number): UIMessageChunk[] {
    const part = this.#at(contentIndex);
    if ((part?.kind !== "text" && part?.kind !== "reasoning") || !part.isOpen) return [];
    part.isOpen = false;
    return [{ type: `${part.kind}-end`, id: part.id }];
  }

  #completeCall(call: ShownCall | undefined, part: ToolCall): UIMessageChunk[] {
    if (call === undefined) return [];
    const { arguments: value, argumentsText = "", argumentsError } = part;
    if (argumentsError === undefined) return call.setInput({ state: "available", value });
    const errorText = this.#port.settings.toErrorText({
      kind: "tool",
      toolName: part.name,
      outcome: "not_started",
      text: argumentsError,
    });
    return call.setInput({ state: "error", value: argumentsText, errorText });
  }

  #retract(from: number): UIMessageChunk[] {
    const kept = this.parts.filter(({ contentIndex = -1 }) => contentIndex < from);
    if (kept.length === this.parts.length) return [];
    this.#keep(kept);
    return [{ type: "reset-step" }, ...this.replay()];
  }

  #keep(parts: ShownPart[]): void {
    const kept = new Set(parts);
    this.#port.forget(this.parts.filter((part) => !kept.has(part)));
    this.parts = parts;
    this.#callsById.clear();
    for (const call of this.calls)
      this.#callsById.set(keyOf(call.names), [...this.callsOf(call.names), call]);
  }

  #at(contentIndex: number): ShownPart | undefined {
    return this.parts.findLast((part) => part.contentIndex === contentIndex);
  }

  #callAt(contentIndex: number): ShownCall | undefined {
    const part = this.#at(contentIndex);
    return part?.kind === "call" ? part : undefined;
  }
}

function keyOf({ runId, callId }: { readonly runId: string; readonly callId: string }): string {
  return JSON.stringify([runId, callId]);
}

function chunksOf(part: ShownPart): UIMessageChunk[] {
  if (part.kind === "call") return part.chunks();
  if (part.kind === "data" || part.kind === "whole") return [part.chunk];
  const { kind, id, text, isOpen } = part;
  const open: UIMessageChunk[] = [
    { type: `${kind}-start`, id },
    { type: `${kind}-delta`, id, delta: text },
  ];
  return isOpen ? open : [...open, { type: `${kind}-end`, id }];
}
