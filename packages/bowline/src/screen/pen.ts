/** Writes rows below each other and counts where the cursor is, relative to the first row. */
import { openStyles } from "./open-styles.ts";
import { isSurelyNarrow, plainText, widestWidth } from "./width.ts";

/** Colours and characters that take one column in every terminal. */
const KNOWN_START = /^(?:\u001b\[[\d;:]*m|[^\u001b])*/;

export class Pen {
  text = "";
  readonly #columns: number;
  #row: number;
  /** The number of rows that exist on the terminal; the next one needs a line feed. */
  #exist: number;

  constructor(row: number, exist: number, columns: number) {
    this.#row = row;
    this.#exist = exist;
    this.#columns = columns;
  }

  get row(): number {
    return this.#row;
  }

  /** The number of rows that exist on the terminal. */
  get exist(): number {
    return this.#exist;
  }

  /** Counts rows from a later one on; those before it belong to the scrollback. */
  skip(rows: number): void {
    this.#row -= rows;
    this.#exist -= rows;
  }

  to(row: number): void {
    const reachable = Math.min(row, this.#exist - 1);
    const down = reachable - this.#row;
    if (down < 0) this.text += `\u001b[${-down === 1 ? "" : -down}A`;
    if (down > 0) this.text += down < 3 ? "\r\n".repeat(down) : `\u001b[${down}B`;
    this.text += "\r\n".repeat(row - reachable);
    this.#row = row;
    this.#exist = Math.max(this.#exist, row + 1);
  }

  column(column: number): void {
    this.text += column === 0 ? "\r" : `\u001b[${column + 1}G`;
  }

  /** Erases from a row to the end of the screen. */
  eraseFrom(row: number): void {
    this.to(row);
    this.text += "\r\u001b[J";
    this.#exist = row + 1;
  }

  /** Makes `count` blank rows at a row. The rows from there on move down. */
  insert(row: number, count: number): void {
    this.to(this.#exist - 1 + count);
    this.to(row);
    this.text += `\u001b[${count === 1 ? "" : count}L`;
  }

  /** Removes rows. The rows after them move up. */
  remove(row: number, count: number): void {
    this.to(row);
    this.text += `\u001b[${count === 1 ? "" : count}M`;
    this.#exist -= count;
  }

  /** Writes lines as they are, each followed by a line feed, on an erased screen. */
  writeLines(lines: readonly string[]): void {
    for (const line of lines) this.text += `${line}\r\n`;
    this.#row = 0;
    this.#exist = 1;
  }

  /** Replaces a row, from the first column that differs. */
  writeRow(row: number, old: string, text: string): void {
    if (old === text) return;
    this.to(row);
    const kept = sharedStart(old, text);
    const start = text.slice(0, kept);
    this.column(plainText(start).length);
    if (old.length > kept) this.text += "\u001b[K";
    this.#write(openStyles(start) + text.slice(kept), text);
  }

  /** Without automatic wrapping, a row that is wider than expected stays one row. */
  #write(part: string, row: string): void {
    const canWrap = widestWidth(row) > this.#columns;
    this.text += canWrap ? `\u001b[?7l${part}\u001b[?7h` : part;
  }
}

/**
 * Returns the length of the common start whose width is known. A sequence or a character with
 * combining marks is not cut, nor one with an invisible character, which its cell may keep.
 */
function sharedStart(old: string, text: string): number {
  let length = 0;
  while (length < old.length && old[length] === text[length]) length += 1;
  const start = KNOWN_START.exec(text.slice(0, length))?.[0] ?? "";
  const isKnown = isSurelyNarrow(plainText(start));
  const joins = /^[\p{Mark}\p{Format}]/u;
  const isCut = joins.test(old.slice(length)) || joins.test(text.slice(length));
  return isKnown && !isCut ? start.length : 0;
}
