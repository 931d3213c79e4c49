/** Computes what to write so that a terminal shows new lines and a new live area. */
import { Pen } from "./pen.ts";
import { textWidth, pieces, widestWidth } from "./width.ts";

/** The live area on the terminal. It has one row at least, the one with the cursor. */
export interface Drawn {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export const NOTHING_DRAWN: Drawn = { rows: [""], cursor: { row: 0, column: 0 } };

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Returns the bytes that print lines above the live area and turn the old live area into the new
 * one. Rows that stay are not written again; a printed line that was a live row stays where it is.
 */
export function frameText(old: Drawn, printed: readonly string[], live: Drawn, size: Size): string {
  const pen = new Pen(old.cursor.row, old.rows.length, size.columns);
  const isOneRow = (line: string): boolean => widestWidth(line) <= size.columns;
  let kept = 0;
  while (kept < printed.length && old.rows[kept] === printed[kept] && isOneRow(printed[kept] ?? ""))
    kept += 1;
  pen.skip(kept);
  let rows = old.rows.slice(kept);
  let above = printed.slice(kept);
  // Rows are only counted where every terminal counts the same.
  if (!above.every(isOneRow) || above.length + live.rows.length > size.rows) {
    pen.eraseFrom(0);
    pen.writeLines(above);
    rows = [""];
    above = [];
  }
  const target = [...above, ...live.rows];
  // Rows that are inserted before others are removed must not leave the window.
  const canSplit = rows.length + target.length <= size.rows;
  replaceRows(pen, 0, { old: rows, rows: target }, canSplit);
  pen.skip(above.length);
  const { row, column } = live.cursor;
  if (pen.text === "" && pen.row === row && old.cursor.column === column) return "";
  pen.to(row);
  pen.column(column);
  return pen.text;
}

/**
 * Returns how many rows above the cursor the live area begins after the window changed. A terminal
 * that reflows wraps the rows that no longer fit, and its cursor stays on its character. If the area
 * becomes higher than the window, its first rows enter the scrollback, where no sequence erases them.
 */
export function rowsAbove(drawn: Drawn, columns: number, reflow: Reflow): number {
  const { row, column } = drawn.cursor;
  if (reflow === "none") return row;
  if (reflow === "xterm.js") return rowsAboveInXtermJs(drawn, columns);
  let above = Math.floor(column / columns);
  for (const text of drawn.rows.slice(0, row)) above += rowsOf(text, columns);
  return above;
}

/**
 * xterm.js goes through the rows from the last one up. It moves the cursor down for each row that it
 * adds, even below the cursor, and does not wrap the row where the cursor then is.
 */
function rowsAboveInXtermJs({ rows, cursor }: Drawn, columns: number): number {
  let above = cursor.row;
  for (let row = rows.length - 1; row >= 0; row -= 1) {
    if (row !== above) above += rowsOf(rows[row] ?? "", columns) - 1;
  }
  return above;
}

export type Reflow = "all" | "xterm.js" | "none";

/** Tells what the terminal does with its rows when the window becomes narrower. */
export function reflowOf(env: Readonly<Record<string, string | undefined>>): Reflow {
  const isMultiplexed = env.TMUX !== undefined;
  if (!isMultiplexed && (env.XTERM_VERSION !== undefined || env.STY !== undefined)) return "none";
  if (/^(?:linux|rxvt|screen\.)/.test(env.TERM ?? "")) return "none";
  const isXtermJs = /^(?:vscode|Hyper|Tabby)$/.test(env.TERM_PROGRAM ?? "");
  return isXtermJs && !isMultiplexed ? "xterm.js" : "all";
}

/** Characters that every terminal draws in two columns. */
const SURELY_WIDE = /^[\u1100-\u115f\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60]$/;

/** Returns the fewest rows that a terminal takes: one too many would erase a printed line. */
function rowsOf(text: string, columns: number): number {
  if (textWidth(text) <= columns) return 1;
  let rows = 1;
  let used = 0;
  for (const piece of pieces(text)) {
    const isDoubtful = piece.columns === 2 && !SURELY_WIDE.test(piece.text);
    const width = isDoubtful ? 1 : piece.columns;
    if (used + width > columns) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}

/** Turns the rows from `at` on into others. Rows that stay are moved, not written. */
function replaceRows(pen: Pen, at: number, change: Change, canSplit: boolean): void {
  const { old, rows, at: start } = trimmed(change);
  const first = at + start;
  const block = canSplit ? sharedBlock(old, rows) : undefined;
  if (block === undefined) return replaceAll(pen, first, old, rows);
  const { oldAt, at: newAt, length } = block;
  const before = { old: old.slice(0, oldAt), rows: rows.slice(0, newAt) };
  const after = { old: old.slice(oldAt + length), rows: rows.slice(newAt + length) };
  replaceRows(pen, first, before, true);
  replaceRows(pen, first + newAt + length, after, true);
}

function replaceAll(pen: Pen, at: number, old: readonly string[], rows: readonly string[]): void {
  const grown = rows.length - old.length;
  const place = at + Math.min(rows.length, old.length);
  const hasBelow = pen.exist > at + old.length;
  if (grown > 0 && hasBelow) pen.insert(place, grown);
  if (grown < 0 && hasBelow) pen.remove(place, -grown);
  if (grown < 0 && !hasBelow) pen.eraseFrom(place);
  for (const [i, row] of rows.entries()) {
    if (old[i] === undefined && row === "") pen.to(at + i);
    pen.writeRow(at + i, old[i] ?? "", row);
  }
}

interface Change {
  readonly old: readonly string[];
  readonly rows: readonly string[];
}

/** Leaves out the rows that stay where they are, and those that stay at the end. */
function trimmed({ old, rows }: Change): Change & { readonly at: number } {
  const shorter = Math.min(old.length, rows.length);
  let at = 0;
  while (at < shorter && old[at] === rows[at]) at += 1;
  let end = 0;
  while (end < shorter - at && old.at(-1 - end) === rows.at(-1 - end)) end += 1;
  return { old: old.slice(at, old.length - end), rows: rows.slice(at, rows.length - end), at };
}

/** Below this, writing rows again is as short as moving them. */
const WORTH_MOVING = 20;

/** Finds the rows with the most characters that both have in a row. */
function sharedBlock(
  old: readonly string[],
  rows: readonly string[],
): { readonly oldAt: number; readonly at: number; readonly length: number } | undefined {
  let best: { oldAt: number; at: number; length: number } | undefined;
  let most = WORTH_MOVING;
  for (let oldAt = 0; oldAt < old.length; oldAt += 1) {
    for (let at = 0; at < rows.length; at += 1) {
      let length = 0;
      let size = 0;
      while (oldAt + length < old.length && old[oldAt + length] === rows[at + length]) {
        size += old[oldAt + length]?.length ?? 0;
        length += 1;
      }
      if (size > most) {
        most = size;
        best = { oldAt, at, length };
      }
    }
  }
  return best;
}
