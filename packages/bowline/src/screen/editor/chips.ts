/**
 * The pastes and images of a draft, each as one character of its text. The character is a lone
 * surrogate, which no well-formed text contains, so the keys that move and delete need no case for
 * them.
 */
import { labelOf, type DraftPart } from "./draft.ts";

export type ChipPart = Extract<DraftPart, { type: "paste" | "image" }>;
type NewChip =
  | Omit<Extract<ChipPart, { type: "paste" }>, "number">
  | Omit<Extract<ChipPart, { type: "image" }>, "number">;

/** The low surrogates: they never form a pair with what precedes them in well-formed text. */
const FIRST = 0xdc00;
const LAST = 0xdfff;

export class Chips {
  readonly #parts = new Map<string, ChipPart>();

  /**
   * Adds a part and returns its character. Keeps the number if it is free. Returns undefined when
   * the draft has 1,024 of them.
   */
  add(part: NewChip, number?: number): string | undefined {
    const used = [...this.#parts.values()].filter(({ type }) => type === part.type);
    const isFree = number !== undefined && used.every((other) => other.number !== number);
    const next = isFree ? number : Math.max(0, ...used.map((other) => other.number)) + 1;
    for (let code = FIRST; code <= LAST; code++) {
      const char = String.fromCharCode(code);
      if (this.#parts.has(char)) continue;
      this.#parts.set(char, { ...part, number: next });
      return char;
    }
    return undefined;
  }

  get(char: string): ChipPart | undefined {
    return this.#parts.get(char);
  }

  /** Returns what is shown for a character, or undefined for an ordinary one. */
  label(char: string): string | undefined {
    const part = this.#parts.get(char);
    return part && labelOf(part);
  }

  /** Forgets the parts that none of the texts contains. */
  keepThoseIn(texts: readonly string[]): void {
    for (const char of this.#parts.keys())
      if (!texts.some((text) => text.includes(char))) this.#parts.delete(char);
  }

  /** Splits a text into parts. */
  partsOf(text: string): DraftPart[] {
    return text
      .split(/(\p{Surrogate})/u)
      .map((piece): DraftPart => this.#parts.get(piece) ?? { type: "text", text: piece })
      .filter((part) => part.type !== "text" || part.text !== "");
  }

  /** Returns the text for parts, and adds those that are not text. */
  textOf(parts: readonly Exclude<DraftPart, { type: "imagePath" }>[]): string {
    return parts
      .map((part) => {
        if (part.type === "text") return cleanText(part.text);
        const unfolded = part.type === "paste" ? cleanText(part.text) : labelOf(part);
        return this.add(part, part.number) ?? unfolded;
      })
      .join("");
  }
}

/** Makes line ends line feeds, and replaces lone surrogates. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/\p{Surrogate}/gu, "\ufffd");
}
