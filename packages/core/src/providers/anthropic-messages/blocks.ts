/**
 * Turns content blocks into parts. A part opens when its block has content or another block starts,
 * in the order in which the blocks first appeared. A provider's own block can only be written
 * whole, so the blocks after it wait for its end.
 */
// Q072, Q152
import { asText } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName } from "../tool-names.ts";
import { complete, createBlock, extend, isEmpty, joinSignature, type Block } from "./block.ts";
import { nameLimits } from "./messages.ts";
import { ServerTools, toSource } from "./server-tools.ts";

type Json = Record<string, unknown>;

export class BlockAssembler {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #tools: ServerTools;
  /** By index on the wire. The key is undefined for servers that send no index. */
  readonly #open = new Map<unknown, Block>();
  /** The indices of all blocks so far. */
  readonly #indices = new Set<number>();
  /**
   * The index and the block that started last, while it is open. Nearly every delta belongs to it.
   */
  #index: unknown;
  #current: Block | undefined;
  /** Blocks without a part, in order of appearance. */
  readonly #waiting = new Set<Block>();
  #newest: Block | undefined;
  /** Whether the stop reason arrived. Nothing may follow it. */
  #isOver = false;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#tools = new ServerTools(writer);
  }

  start(index: unknown, raw: Json): Block {
    if (this.#isOver) this.#contradict("the stream went on after its stop reason");
    if (this.#isKnown(index)) this.#contradict("the stream opened a block twice");
    this.#end(index, false); // its stop event is missing (Q153)
    const block = createBlock(index, raw, this.#facts);
    if (block.kind === "toolCall") this.#facts.proof.add(block);
    else if (block.kind === "opaque") this.#tools.start(raw);
    this.#open.set(index, block);
    this.#index = index;
    this.#current = block;
    this.#waiting.add(block);
    this.#newest = block;
    this.#settle();
    return block;
  }

  /**
   * Records an index and returns whether it was used before. Without indices, a new block ends the
   * previous one.
   */
  #isKnown(index: unknown): boolean {
    if (typeof index !== "number") return this.#open.has(index);
    return this.#indices.size === this.#indices.add(index).size;
  }

  delta(index: unknown, delta: Json): void {
    const block = index === this.#index ? this.#current : this.#open.get(index);
    if (block === undefined) this.#miss(index, delta.type);
    if (block?.kind === "opaque") return extend(block, delta);
    switch (delta.type) {
      case "text_delta":
        return this.#append(index, block, "text", delta.text);
      case "thinking_delta":
        return this.#append(index, block, "thinking", delta.thinking);
      case "input_json_delta":
        return this.#append(index, block, "toolCall", delta.partial_json);
      case "signature_delta":
        if (!this.#isOf(block, "thinking") || typeof delta.signature !== "string") return;
        block.signature = joinSignature(block.signature, delta.signature);
        return this.#settle();
      case "citations_delta":
        if (this.#isOf(block, "text") && delta.citation !== undefined)
          block.citations.push(delta.citation);
    }
    // Later versions may send other types of delta (Q160).
  }

  stop(index: unknown): void {
    this.#end(index, true);
  }

  /**
   * Closes the open blocks at the end of the answer. They are complete only if the answer has a
   * stop reason.
   */
  close(isFinal: boolean): void {
    for (const [index, block] of this.#open) {
      if (!isFinal) this.#contradict("the stream left a block open");
      block.isClosed = isFinal;
      this.#end(index, false);
    }
    this.#isOver = true;
  }

  #end(index: unknown, isStop: boolean): void {
    const block = this.#open.get(index);
    if (block === undefined) return;
    this.#open.delete(index);
    if (index === this.#index) this.#current = undefined;
    block.stopped = true;
    block.isClosed ||= isStop;
    if (block.kind === "opaque") this.#tools.stop(block.raw);
    // A stop confirms that there is nothing beyond the start or an empty piece (Q148).
    block.hasArguments = block.hasInput || block.input !== "" || (isStop && block.saysInput);
    if (block.contentIndex === undefined) this.#settle();
    else this.#close(block);
  }

  #contradict(what: string): void {
    this.#facts.proof.contradict(what);
  }

  /**
   * Handles a piece without an open block. Stray text leaves the answer readable; anything else
   * contradicts it.
   */
  // Q153
  #miss(index: unknown, type: unknown): void {
    const { proof } = this.#facts;
    const what = "the stream had a piece for a block that was not open";
    const isText = type === "text_delta" || type === "thinking_delta";
    if (isText && !this.#indices.has(index as number)) proof.suspect(what);
    else proof.contradict(what);
  }

  /**
   * Appends to the open block. Opens a new block if the start event is missing or the open one has
   * another type.
   */
  // Q153
  #append(index: unknown, open: Block | undefined, kind: Block["kind"], text: unknown): void {
    if (typeof text !== "string") return;
    const isOf = this.#isOf(open, kind);
    if (open?.kind === "toolCall") open.saysInput ||= kind === "toolCall";
    if (text === "") return; // empty text opens nothing
    const block = isOf
      ? open
      : this.start(index, { type: kind === "toolCall" ? "tool_use" : kind });
    if (block.kind === "toolCall" && !block.hasInput) block.hasInput = text.trim() !== "";
    if (block.contentIndex !== undefined) return this.#writer.append(block.contentIndex, text);
    block.held += text;
    this.#settle();
  }

  /** Returns whether a piece of this kind belongs to the block. */
  #isOf(block: Block | undefined, kind: Block["kind"]): block is Block {
    if (block !== undefined && block.kind !== kind)
      this.#contradict("the stream had a piece for a block of another kind");
    return block?.kind === kind;
  }

  /** Opens parts for waiting blocks, up to the first that cannot have one yet. */
  #settle(): void {
    for (const block of this.#waiting) {
      if (!block.stopped && (block.kind === "opaque" || (block === this.#newest && isEmpty(block))))
        return;
      this.#waiting.delete(block);
      if (block.stopped && isEmpty(block)) continue;
      this.#place(block);
    }
  }

  #place(block: Block): void {
    const { raw } = block;
    switch (block.kind) {
      case "text":
        block.contentIndex = this.#writer.openText();
        break;
      case "thinking":
      case "redacted":
        block.contentIndex = this.#writer.openThinking();
        break;
      case "toolCall":
        block.contentIndex = this.#writer.openToolCall(
          this.#facts.callId(asText(raw.id)), // Q167
          fromWireName(asText(raw.name) || "unnamed", this.#facts.toolNames, nameLimits.nameLength),
        );
        break;
      case "opaque":
        return this.#writer.opaque({
          type: "opaque",
          protocol: "anthropic-messages",
          raw: complete(block),
        });
    }
    this.#writer.append(block.contentIndex, block.held);
    if (block.stopped) this.#close(block);
  }

  #close(block: Block): void {
    const index = block.contentIndex as number;
    switch (block.kind) {
      case "text": {
        // Citations are sent back with their text; otherwise the server does not know what it cited
        // (Q161).
        const { citations } = block;
        this.#writer.close(index, {
          textSignature: citations.length > 0 ? JSON.stringify({ citations }) : undefined,
        });
        for (const citation of citations) {
          const source = toSource(citation, index);
          if (source) this.#writer.whole(source);
        }
        return;
      }
      case "thinking":
      case "redacted":
        return this.#writer.close(index, {
          thinkingSignature: block.signature || undefined,
          redacted: block.kind === "redacted" || undefined,
        });
      case "toolCall": {
        const input = block.hasInput ? "" : block.input;
        const caller = block.raw.caller as Json | null | undefined;
        return this.#writer.close(index, {
          text: input || undefined,
          // A program on the server made this call. It needs its name back with the result.
          thoughtSignature: caller?.tool_id === undefined ? undefined : JSON.stringify({ caller }),
        });
      }
      case "opaque": // has no open part
    }
  }
}
