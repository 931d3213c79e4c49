/**
 * The rows of a draft on the screen. A row is a range of the text. The label of a chip is longer
 * than its one character and can continue on the next row, so that an end also says how many words
 * of the label come before it.
 */
import { printable } from "../../terminal.ts";
import { textWidth } from "../width.ts";
import { nextBoundary } from "./grapheme.ts";
import { lineEnd, lineStart } from "./line-bounds.ts";

interface Position {
  readonly index: number;
  /** The words of the chip's label at `index` that come before. */
  readonly words: number;
}

export interface Row {
  readonly start: Position;
  readonly end: Position;
}

/** What is laid out: the text, the labels of its chips, and the width of a row. */
export interface Page {
  readonly text: string;
  readonly label: (char: string) => string | undefined;
  readonly width: number;
  /** The widths of characters that were measured. */
  readonly widths: Map<string, number>;
}

/** The smallest thing that is not divided: a character, or a word of a label. */
interface Unit {
  readonly text: string;
  readonly width: number;
  readonly next: Position;
  readonly isSpace: boolean;
  /** A row may begin with it, whatever precedes. */
  readonly canBegin: boolean;
}

const TAB = 4;
const MAX_WIDTHS = 4000;
const SPACE = { text: " ", width: 1, isSpace: true, canBegin: true } as const;

/** Returns the rows of the line that contains `index`. There is at least one. */
export function rowsOf(page: Page, index: number): Row[] {
  const end = lineEnd(page.text, index);
  const rows: Row[] = [];
  let start = at(lineStart(page.text, index));
  let space: Position | undefined; // the last place between two words
  let position = start;
  let column = 0;
  while (position.index < end) {
    const letters = lettersAt(page, position, Math.min(end, position.index + page.width - column));
    if (letters > 0) {
      column += letters;
      position = at(position.index + letters);
      continue;
    }
    const unit = unitAt(page, position, column);
    if (column > 0 && column + unit.width > page.width) {
      const cut = unit.canBegin || space === undefined ? position : space;
      rows.push({ start, end: cut });
      [start, position, space, column] = [cut, cut, undefined, 0];
      continue;
    }
    column += unit.width;
    position = unit.next;
    if (unit.isSpace) space = position;
  }
  rows.push({ start, end: at(end) });
  return rows;
}

/**
 * Returns the number of ASCII letters and signs before `end`, each surely one column. Most of a
 * draft is such text: without a step of its own, a long line would take more than a frame.
 */
function lettersAt({ text }: Page, { index, words }: Position, end: number): number {
  if (words > 0) return 0;
  let next = index;
  while (next < end && isLetter(text.charCodeAt(next))) next++;
  // The last one may be the base of a combining mark.
  return next < text.length && text.charCodeAt(next) > 0x7e && next > index
    ? next - 1 - index
    : next - index;
}

function isLetter(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** Returns the place of the cursor's row among the rows of its line. */
export function rowIndexOf(rows: readonly Row[], cursor: number): number {
  const position = at(cursor);
  const found = rows.findIndex(({ end }) => isBefore(position, end));
  return found === -1 ? rows.length - 1 : found;
}

/** Returns the column of the cursor in its row. */
export function columnOf(page: Page, row: Row, cursor: number): number {
  let column = 0;
  for (const unit of unitsOf(page, row)) {
    if (unit.from.index >= cursor) break;
    column += unit.width;
  }
  return column;
}

/** Returns the cursor for a column in a row, or the nearest one before it. */
export function cursorAt(page: Page, row: Row, column: number, isMovingDown: boolean): number {
  let cursor: number | undefined;
  let from = 0;
  for (const unit of unitsOf(page, row)) {
    if (unit.from.words === 0) {
      cursor = unit.from.index;
      if (from + unit.width > column) return cursor;
    }
    from += unit.width;
  }
  if (isAt(row.end) && (row.end.index === page.text.length || page.text[row.end.index] === "\n"))
    return row.end.index;
  // A row that only continues a label: before or behind the chip, so that the cursor goes on.
  return cursor ?? row.start.index + (isMovingDown ? 1 : 0);
}

/** Returns the row as it is shown. */
export function rowText(page: Page, row: Row): string {
  let text = "";
  for (const unit of unitsOf(page, row)) text += unit.text;
  return text;
}

function* unitsOf(page: Page, row: Row): Generator<Unit & { readonly from: Position }> {
  let column = 0;
  for (let from = row.start; isBefore(from, row.end);) {
    const unit = unitAt(page, from, column);
    yield { ...unit, from };
    column += unit.width;
    from = unit.next;
  }
}

function unitAt(page: Page, { index, words }: Position, column: number): Unit {
  const { text } = page;
  const code = text.charCodeAt(index);
  const label = code >= 0xdc00 && code <= 0xdfff ? page.label(text.charAt(index)) : undefined;
  if (label !== undefined) return labelUnit(label, index, words);
  const next = nextBoundary(text, index);
  if (next === index + 1 && code === 0x20) return { ...SPACE, next: at(next) };
  if (next === index + 1 && isLetter(code))
    return { text: text.charAt(index), width: 1, next: at(next), isSpace: false, canBegin: false };
  const char = text.slice(index, next);
  if (char === "\t") {
    const width = TAB - (column % TAB);
    return { text: " ".repeat(width), width, next: at(next), isSpace: true, canBegin: true };
  }
  const shown = printable(char);
  const width = widthOf(page, shown);
  const isSpace = /^\s/.test(char);
  return { text: shown, width, next: at(next), isSpace, canBegin: isSpace || width > 1 };
}

/** Measures a character. The width of a cluster takes longer than the rest of its layout. */
function widthOf({ widths }: Page, char: string): number {
  const known = widths.get(char);
  if (known !== undefined) return known;
  const width = textWidth(char);
  if (widths.size >= MAX_WIDTHS) widths.clear();
  widths.set(char, width);
  return width;
}

/** The words of a label keep the space that follows them. */
function labelUnit(label: string, index: number, words: number): Unit {
  const all = label.split(/(?<= )/);
  const text = all[words] ?? "";
  const isLast = words >= all.length - 1;
  return {
    text,
    width: textWidth(text),
    next: isLast ? at(index + 1) : { index, words: words + 1 },
    isSpace: false,
    canBegin: true,
  };
}

function at(index: number): Position {
  return { index, words: 0 };
}

function isAt(position: Position): boolean {
  return position.words === 0;
}

function isBefore(a: Position, b: Position): boolean {
  return a.index < b.index || (a.index === b.index && a.words < b.words);
}
