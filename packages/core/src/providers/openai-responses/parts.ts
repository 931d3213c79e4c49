/**
 * Writes the parts of a message in the order in which they started. A provider's own item can only
 * be written whole, so later parts wait for its end. They do not wait if the server has finished it
 * and only the end event is missing. Each delta has the same cost, written or waiting.
 */
import { asRecord } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { SeenCall } from "../call-proof.ts";
import { splitImage, toSource } from "./server-tools.ts";

type Json = Record<string, unknown>;

export interface Part extends SeenCall {
  readonly kind: "text" | "thinking" | "toolCall" | "opaque";
  /** Content received before the part was open: text, thinking, or the JSON of arguments. */
  held: string;
  /** The length of all content so far. */
  length: number;
  /** For a call, which waits for its name. */
  id: string;
  name: string;
  wireId: string;
  place: string | number | undefined;
  hasArguments: boolean;
  isClosed: boolean;
  /** The final arguments as JSON, which replace the streamed ones. */
  // Q186, Q188
  whole: string | undefined;
  /** For thinking: the wire's name for it. */
  field: string | undefined;
  /** Opaque data of the part. */
  signature: string | undefined;
  isEncrypted: boolean;
  /** For text: what it cites. */
  annotations: readonly unknown[];
  /** For an opaque part: the raw item. */
  raw: Json;
  /** For an opaque part: whether the server has finished it, though its end event is missing. */
  isSettled: boolean;
  /** Its index in the message, once it is open. */
  contentIndex: number | undefined;
  ended: boolean;
}

export class PartWriter {
  readonly #writer: MessageWriter;
  /** Parts that are not open yet, in the order in which they started. */
  readonly #waiting = new Set<Part>();
  #newest: Part | undefined;

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  begin(kind: Part["kind"], text = "", raw: Json = {}): Part {
    const part: Part = {
      kind,
      held: text,
      length: text.length,
      id: "",
      name: "",
      wireId: "",
      place: undefined,
      hasArguments: false,
      isClosed: false,
      whole: undefined,
      field: undefined,
      signature: undefined,
      isEncrypted: false,
      annotations: [],
      raw,
      isSettled: false,
      contentIndex: undefined,
      ended: false,
    };
    this.#waiting.add(part);
    this.#newest = part;
    this.settle();
    return part;
  }

  append(part: Part, text: string): void {
    if (text === "" || part.ended) return;
    part.length += text.length;
    if (part.contentIndex !== undefined) return this.#writer.append(part.contentIndex, text);
    part.held += text;
    this.settle();
  }

  /**
   * Completes the text from `from` on. Appends what is missing at the end of `whole`; text already
   * written stays. Returns whether the two agree, except for white space around them.
   */
  complete(part: Part, whole: string, from = 0): boolean {
    const known = part.length - from;
    const shown = this.textOf(part).slice(from);
    if (whole.length > known && whole.startsWith(shown)) this.append(part, whole.slice(known));
    return whole.startsWith(shown) || whole.trim() === shown.trim();
  }

  /**
   * Returns the text so far. The live message has it, except for half a surrogate pair at its end.
   */
  textOf(part: Part): string {
    const live =
      part.contentIndex === undefined ? undefined : this.#writer.message.content[part.contentIndex];
    if (live?.type === "text") return live.text;
    if (live?.type === "toolCall") return live.argumentsText ?? "";
    return live?.type === "thinking" ? live.thinking : part.held;
  }

  end(part: Part): void {
    if (part.ended) return;
    part.ended = true;
    if (part.contentIndex === undefined) this.settle();
    else this.#close(part, part.contentIndex);
  }

  /** Opens waiting parts, up to the first that others must wait for. */
  settle(): void {
    let isPassed = false;
    for (const part of this.#waiting) {
      if (!this.#isReady(part) || (isPassed && part.kind === "opaque")) {
        if (!part.ended && !part.isSettled) return;
        isPassed = true; // a provider's own items keep their order
        continue;
      }
      this.#waiting.delete(part);
      if (
        part.kind === "thinking" &&
        part.ended &&
        part.length === 0 &&
        part.signature === undefined
      )
        continue;
      this.#place(part);
    }
  }

  #isReady(part: Part): boolean {
    if (part.ended) return true;
    switch (part.kind) {
      case "text":
        return true; // it starts with its first piece
      case "thinking":
        return part.length > 0 || part !== this.#newest;
      case "toolCall":
        return part.name !== "";
      case "opaque":
        return false;
    }
  }

  #place(part: Part): void {
    switch (part.kind) {
      case "text":
        part.contentIndex = this.#writer.openText();
        break;
      case "thinking":
        part.contentIndex = this.#writer.openThinking(part.field);
        break;
      case "toolCall":
        part.contentIndex = this.#writer.openToolCall(part.id, part.name);
        break;
      case "opaque": {
        const { raw, image } = splitImage(part.raw);
        this.#writer.opaque({ type: "opaque", protocol: "openai-responses", raw });
        if (image) this.#writer.whole(image);
        return;
      }
    }
    this.#writer.append(part.contentIndex, part.held);
    if (part.ended) this.#close(part, part.contentIndex);
  }

  #close(part: Part, index: number): void {
    const { whole, signature } = part;
    switch (part.kind) {
      case "text":
        this.#writer.close(index, { textSignature: signature });
        for (const annotation of part.annotations) {
          const source = toSource(asRecord(annotation), index);
          if (source) this.#writer.whole(source);
        }
        return;
      case "thinking":
        return this.#writer.close(index, {
          thinkingSignature: signature,
          redacted: (part.isEncrypted && part.length === 0) || undefined,
        });
      case "toolCall":
        return this.#writer.close(index, { text: whole, thoughtSignature: signature });
      case "opaque": // already written
    }
  }
}
