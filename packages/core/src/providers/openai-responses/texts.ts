/** The texts of messages and of reasoning: their pieces, and what is said to be the whole. */
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

  /** Notes that a text of the answer is a refusal. */
  refuse(): void {
    this.#refused = true;
  }

  /** A text of a message that is not empty: a piece, or the whole. `isEnd`: nothing follows. */
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

  /** A thought that is not empty, of the section that an event names: a piece, or the whole. */
  think(item: Item, part: Part, section: unknown, text: string, isWhole: boolean): void {
    if (section !== item.section) {
      if (item.sections.has(section)) return; // the end of one that others followed
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
    // In the order of the texts: places in the list and `content_index` do not always agree.
    const parts = [...item.texts.values()];
    for (const [index, content] of contents.entries()) {
      if (content.type === "refusal") this.#refused = true;
      const part = parts[index];
      if (part === undefined) parts.push(this.#parts.begin("text", textOf(content)));
      else this.#complete(part, textOf(content));
    }
    if (contents.length > 0 && parts.length > contents.length)
      this.#proof.contradict("the stream gave a text that its item does not have");
    for (const [index, part] of parts.entries()) {
      const given = contents[index]?.annotations;
      const annotations =
        Array.isArray(given) && given.length > 0 ? given : this.#citations.get(part);
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

  /** Text that is said to be whole must be what came of it, and more. */
  #complete(part: Part, whole: string): void {
    if (!this.#parts.complete(part, whole))
      this.#proof.contradict("the stream gave a text that is not its pieces");
  }
}

/** Whether a message as a whole says anything. */
export function hasText({ content }: Json): boolean {
  return asList(content).some((part) => textOf(part) !== "");
}

function textOf({ type, text, refusal }: Json): string {
  return asText(type === "refusal" ? refusal : text);
}

function asList(value: unknown): Json[] {
  return list(value).map(asRecord);
}
