/** Joins the parts of a status row and leaves out the least important ones in a narrow window. */
import { plainText, textWidth } from "./width.ts";

export interface StatusPart {
  readonly text: string;
  /** Parts with a lower number are left out first. */
  readonly priority: number;
  /** A shorter form, which is taken before a part is left out. */
  readonly short?: string;
}

const SEPARATOR = " · ";

/**
 * Returns one row of at most `columns`, in the order of the parts. If not even the most important
 * part fits, it is shortened at a space: no word is cut.
 */
export function fitParts(parts: readonly StatusPart[], columns: number): string {
  let shown = parts.filter(({ text }) => text !== "");
  if (textWidth(joined(shown)) > columns)
    shown = shown.map((part) => ({ ...part, text: part.short ?? part.text }));
  while (shown.length > 1 && textWidth(joined(shown)) > columns) {
    const least = shown.reduce((low, part) => (part.priority <= low.priority ? part : low));
    shown = shown.filter((part) => part !== least);
  }
  const row = joined(shown);
  return textWidth(row) <= columns ? row : wholeWords(plainText(row), columns);
}

function joined(parts: readonly StatusPart[]): string {
  return parts.map(({ text }) => text).join(SEPARATOR);
}

function wholeWords(text: string, columns: number): string {
  let row = "";
  for (const word of text.split(" ")) {
    const longer = row === "" ? word : `${row} ${word}`;
    if (textWidth(longer) > columns) return row;
    row = longer;
  }
  return row;
}
