/**
 * Content blocks to parts. A part is opened when its block has content or another block
 * begins, in the order in which the blocks first appeared. A provider's own block can only
 * be written whole: what begins behind it waits for its end.
 */
// Q072, Q152
import { asText } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName } from "../tool-names.ts";
import { complete, createBlock, extend, isEmpty, joinSignature, type Block } from "./block.ts";
import { nameLimits } from "./messages.ts";

type Json = Record<string, unknown>;

export class BlockAssembler {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  /** By the index on the wire; undefined is a key too, of servers that send none. */
  readonly #open = new Map<unknown, Block>();
  /** The indices that blocks had. */
  readonly #indices = new Set<number>();
  /**
   * The index that began last, and its block while that is open: what nearly every delta is for.
   */
  #index: unknown;
  #current: Block | undefined;
  /** Blocks that have no part yet, in order of appearance. */
  readonly #waiting = new Set<Block>();
  #newest: Block | undefined;
  /** Whether the answer has its stop reason: then no block has anything to come. */
  #isOver = false;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
  }

  start(index: unknown, raw: Json): Block {
    if (this.#isOver) this.#contradict("the stream went on after its stop reason");
    if (this.#isKnown(index)) this.#contradict("the stream opened a block twice");
    this.#end(index, false); // its stop went missing (Q153)
    const block = createBlock(index, raw, this.#facts);
    if (block.kind === "toolCall") this.#facts.proof.add(block);
    this.#open.set(index, block);
    this.#index = index;
    this.#current = block;
    this.#waiting.add(block);
    this.#newest = block;
    this.#settle();
    return block;
  }

  /** Notes an index; whether a block had it. Without indices a block ends the one before. */
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
    // Other kinds of delta are news that a later version may understand (Q160).
  }

  stop(index: unknown): void {
    this.#end(index, true);
  }

  /**
   * Ends what is still open, with the answer. Its stop reason makes final what came; without one
   * nothing does.
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
    // A stop says that there is nothing more than the start or an empty piece said (Q148).
    block.hasArguments = block.hasInput || block.input !== "" || (isStop && block.saysInput);
    if (block.contentIndex === undefined) this.#settle();
    else this.#close(block);
  }

  #contradict(what: string): void {
    this.#facts.proof.contradict(what);
  }

  /** A piece of no open block: text can be read, and nothing else. */
  // Q153
  #miss(index: unknown, type: unknown): void {
    const { proof } = this.#facts;
    const what = "the stream had a piece for a block that was not open";
    const isText = type === "text_delta" || type === "thinking_delta";
    if (isText && !this.#indices.has(index as number)) proof.suspect(what);
    else proof.contradict(what);
  }

  /**
   * Appends to the open block, or to a new one when its start went missing or it is of another kind.
   */
  // Q153
  #append(index: unknown, open: Block | undefined, kind: Block["kind"], text: unknown): void {
    if (typeof text !== "string") return;
    const isOf = this.#isOf(open, kind);
    if (open?.kind === "toolCall") open.saysInput ||= kind === "toolCall";
    if (text === "") return; // nothing opens for nothing
    const block = isOf
      ? open
      : this.start(index, { type: kind === "toolCall" ? "tool_use" : kind });
    if (block.kind === "toolCall" && !block.hasInput) block.hasInput = text.trim() !== "";
    if (block.contentIndex !== undefined) return this.#writer.append(block.contentIndex, text);
    block.held += text;
    this.#settle();
  }

  /** Whether a piece of this kind belongs to the block. */
  #isOf(block: Block | undefined, kind: Block["kind"]): block is Block {
    if (block !== undefined && block.kind !== kind)
      this.#contradict("the stream had a piece for a block of another kind");
    return block?.kind === kind;
  }

  /** Gives parts to the waiting blocks, up to the first that cannot have one yet. */
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
      case "text":
        // Citations go back with their text, or the server no longer knows what it cited (Q161).
        return this.#writer.close(index, {
          textSignature:
            block.citations.length > 0 ? JSON.stringify({ citations: block.citations }) : undefined,
        });
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
          // A server's program made this call, and wants its name back with the result.
          thoughtSignature: caller?.tool_id === undefined ? undefined : JSON.stringify({ caller }),
        });
      }
      case "opaque": // has no open part
    }
  }
}
