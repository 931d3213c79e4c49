/** The ends of words, for the keys that move and delete by word. */
import { nextBoundary, previousBoundary } from "./grapheme.ts";

/** `letters`: letters, digits and underscores, as in readline. `blank`: all but white space. */
export type WordKind = "letters" | "blank";

/** Returns the end of the word at or after `index`. */
export function wordEnd(text: string, index: number, kind: WordKind): number {
  let end = index;
  while (end < text.length && !isWord(text, end, kind)) end = nextBoundary(text, end);
  while (end < text.length && isWord(text, end, kind)) end = nextBoundary(text, end);
  return end;
}

/** Returns the start of the word before `index`. */
export function wordStart(text: string, index: number, kind: WordKind): number {
  let start = index;
  const before = (): number => previousBoundary(text, start);
  while (start > 0 && !isWord(text, before(), kind)) start = before();
  while (start > 0 && isWord(text, before(), kind)) start = before();
  return start;
}

/** A lone surrogate stands for a folded paste or an image, which counts as a word. */
function isWord(text: string, index: number, kind: WordKind): boolean {
  const char = String.fromCodePoint(text.codePointAt(index) ?? 0x20);
  return kind === "blank" ? !/\s/.test(char) : /[\p{L}\p{N}\p{M}\p{Cs}_]/u.test(char);
}
