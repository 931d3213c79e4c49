/** Measures and cuts text as a terminal shows it. Escape sequences take no columns. */
import { eastAsianWidth } from "get-east-asian-width";
import { openStyles, RESET } from "./open-styles.ts";

const PLAIN = /^[\x20-\x7e]*$/;
/** CSI and OSC sequences, and an ESC with the character after it. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[^[\]]?)/g;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Mark}\p{Surrogate}]+$/u;
/** Clusters that are an emoji although their first character alone is narrow. */
const EMOJI_CLUSTER = /^(?:\p{Regional_Indicator}{2}|[#*\d]\ufe0f?\u20e3|\p{Emoji}\ufe0f)/u;
/** Characters that take one column, each a single code unit. */
const SURELY_NARROW =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0513\u2010-\u2027\u203a\u2190-\u2199\u2500-\u257f\u25b6\u25cf\u2713\u2717\u276f]*$/;

/** A stretch of text without a possible break inside. */
export interface Piece {
  readonly text: string;
  readonly columns: number;
  readonly isEscape: boolean;
}

/** Returns the text without escape sequences. */
export function plainText(styled: string): string {
  return styled.includes("\u001b") ? styled.replace(ESCAPES, "") : styled;
}

/** Returns the number of columns. Tabs and other control characters count as none. */
export function textWidth(styled: string): number {
  const text = plainText(styled);
  if (SURELY_NARROW.test(text)) return text.length;
  let columns = 0;
  for (const cluster of clusters(text)) columns += clusterWidth(cluster);
  return columns;
}

/**
 * Returns the most columns that any terminal takes for the text. Terminals disagree on joined
 * emoji, ambiguous characters and combining marks. A text with control characters has no limit.
 */
export function widestWidth(styled: string): number {
  const text = plainText(styled);
  if (PLAIN.test(text)) return text.length;
  if (/\p{Control}/u.test(text)) return Infinity;
  let columns = 0;
  for (const char of text) columns += isSurelyNarrow(char) ? 1 : 2;
  return columns;
}

/** Tells whether all terminals agree on the width of the text. */
export function isSurelyNarrow(text: string): boolean {
  return SURELY_NARROW.test(text);
}

/** Splits text into escape sequences and the characters that a reader sees as one. */
export function* pieces(styled: string): Generator<Piece> {
  let end = 0;
  for (const match of styled.matchAll(ESCAPES)) {
    yield* visiblePieces(styled.slice(end, match.index));
    yield { text: match[0], columns: 0, isEscape: true };
    end = match.index + match[0].length;
  }
  yield* visiblePieces(styled.slice(end));
}

/** Returns the part that fits into `columns`, with its styles closed. */
export function cutToWidth(styled: string, columns: number): string {
  if (styled.length <= columns && PLAIN.test(styled)) return styled;
  return breakAtWidth(styled, columns)[0];
}

/**
 * Splits text where `columns` are full. The first part closes its styles, the second opens them
 * again. At least one character goes to the first part if `columns` is 1 or more, so that a loop
 * ends.
 */
export function breakAtWidth(styled: string, columns: number): readonly [string, string] {
  let head = "";
  let used = 0;
  for (const piece of pieces(styled)) {
    if (used + piece.columns > columns && (used > 0 || columns < 1)) {
      const open = openStyles(head);
      const rest = open + styled.slice(head.length);
      return [open === "" ? head : head + RESET, rest];
    }
    head += piece.text;
    used += piece.columns;
  }
  return [head, ""];
}

function* visiblePieces(text: string): Generator<Piece> {
  if (SURELY_NARROW.test(text)) {
    for (const char of text) yield { text: char, columns: 1, isEscape: false };
    return;
  }
  for (const cluster of clusters(text))
    yield { text: cluster, columns: clusterWidth(cluster), isEscape: false };
}

function* clusters(text: string): Generator<string> {
  for (const { segment } of new Intl.Segmenter("en").segment(text)) yield segment;
}

function clusterWidth(cluster: string): number {
  if (INVISIBLE.test(cluster)) return 0;
  if (EMOJI_CLUSTER.test(cluster)) return 2;
  return eastAsianWidth(cluster.codePointAt(0) ?? 0x20);
}
