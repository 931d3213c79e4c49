/** Reads the texts of messages and reasoning, from pieces and from complete texts. */
import { asRecord, asText, list } from "../../json-value.ts";
import type { CallProof } from "../call-proof.ts";
import type { Item } from "./item.ts";
import type { Part, PartWriter } from "./parts.ts";
import { itemId, toSignature } from "./signature.ts";

type Json = Record<string, unknown>;

export class TextReader {
  readonly #parts: PartWriter;
  readonly #proof: CallProof;
  readonly #citations = new Map<Part, unknown[]>();
  #refused = false;

  constructor(parts: PartWriter, proof: CallProof) {
    this.#parts = parts;
    this.#proof = proof;
  }

  /** Whether any text is a refusal. */
  get refused(): boolean {
    return this.#refused;
  }

  /** Records that the answer contains a refusal. */
  refuse(): void {
    this.#refused = true;
  }

  /**
   * Adds non-empty text to a message: a piece, or the complete text. `isEnd` means that nothing
   * follows.
   */
  add({ texts }: Item, slot: unknown, text: string, isWhole: boolean, isEnd: boolean): void {
    let part = texts.get(slot);
    if (part === undefined) texts.set(slot, (part = this.#parts.begin("text")));
    if (part.isClosed && !isWhole)
      this.#proof.contradict("the stream had a piece for a text that had ended");
    if (isWhole) this.#complete(part, text);
    else this.#parts.append(part, text);
    part.isClosed ||= isEnd;
  }

  cite(part: Part, annotation: unknown): void {
    const known = this.#citations.get(part);
    if (known === undefined) this.#citations.set(part, [annotation]);
    else known.push(annotation);
  }

  /** Adds non-empty reasoning to a section: a piece, or the complete text. */
  think(item: Item, part: Part, section: unknown, text: string, isWhole: boolean): void {
    if (section !== item.section) {
      if (item.sections.has(section)) return; // the end of an earlier section
      item.sections.add(section);
      item.section = section;
      if (part.length > 0) this.#parts.append(part, "\n\n");
      item.from = part.length;
    }
    if (isWhole) this.#parts.complete(part, text, item.from);
    else this.#parts.append(part, text);
  }

  finishMessage(item: Item, raw: Json): void {
    const contents = asList(raw.content).filter((content) => textOf(content) !== "");
    const phase = raw.phase ?? item.raw.phase;
    // Matched by order, since positions in the list and `content_index` do not always agree.
    const parts = [...item.texts.values()];
    for (const [index, content] of contents.entries()) {
      if (content.type === "refusal") this.#refused = true;
      const part = parts[index];
      if (part === undefined) parts.push(this.#parts.begin("text", textOf(content)));
      else this.#complete(part, textOf(content));
    }
    if (contents.length > 0 && parts.length > contents.length)
      this.#proof.contradict("the stream sent a text that its item does not contain");
    for (const [index, part] of parts.entries()) {
      const given = contents[index]?.annotations;
      const annotations =
        Array.isArray(given) && given.length > 0 ? given : this.#citations.get(part);
      part.annotations = annotations ?? [];
      part.signature = toSignature({ id: itemId(raw.id, "msg_"), phase, annotations });
      this.#parts.end(part);
    }
  }

  finishReasoning(part: Part, raw: Json): void {
    const [summary = "", content = ""] = [raw.summary, raw.content].map((parts) =>
      asList(parts)
        .map(textOf)
        .filter((text) => text !== "")
        .join("\n\n"),
    );
    part.field ??= summary === "" && content !== "" ? "reasoning_text" : "summary_text";
    this.#parts.complete(part, part.field === "reasoning_text" ? content : summary);
    const { encrypted_content } = raw;
    part.isEncrypted = typeof encrypted_content === "string" && encrypted_content !== "";
    part.signature = toSignature({ id: itemId(raw.id, "rs_"), encrypted_content });
    this.#parts.end(part);
  }

  /**
   * Completes a text. Reports a contradiction if the complete text does not start with its pieces.
   */
  #complete(part: Part, whole: string): void {
    if (!this.#parts.complete(part, whole))
      this.#proof.contradict("the stream sent a complete text that differs from its pieces");
  }
}

/** Returns whether a complete message has any text. */
export function hasText({ content }: Json): boolean {
  return asList(content).some((part) => textOf(part) !== "");
}

function textOf({ type, text, refusal }: Json): string {
  return asText(type === "refusal" ? refusal : text);
}

function asList(value: unknown): Json[] {
  return list(value).map(asRecord);
}
