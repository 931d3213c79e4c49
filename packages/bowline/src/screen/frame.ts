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
  replaceRows(pen, rows, [...above, ...live.rows]);
  pen.skip(above.length);
  const { row, column } = live.cursor;
  if (pen.text === "" && pen.row === row && old.cursor.column === column) return "";
  pen.to(row);
  pen.column(column);
  return pen.text;
}

/**
 * Returns how many rows above the cursor the live area begins after the window changed. A terminal
 * that reflows wraps the rows that no longer fit, and its cursor stays on its character.
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

function rowsOf(text: string, columns: number): number {
  if (textWidth(text) <= columns) return 1;
  let rows = 1;
  let used = 0;
  for (const piece of pieces(text)) {
    if (used + piece.columns > columns) {
      rows += 1;
      used = 0;
    }
    used += piece.columns;
  }
  return rows;
}

function replaceRows(pen: Pen, old: readonly string[], rows: readonly string[]): void {
  const shorter = Math.min(old.length, rows.length);
  let start = 0;
  while (start < shorter && old[start] === rows[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === rows.at(-1 - end)) end += 1;
  const oldMiddle = old.slice(start, old.length - end);
  const middle = rows.slice(start, rows.length - end);
  const grown = middle.length - oldMiddle.length;
  const place = start + Math.min(middle.length, oldMiddle.length);
  if (grown > 0 && end > 0) pen.insert(place, grown);
  if (grown < 0 && end > 0) pen.remove(place, -grown);
  if (grown < 0 && end === 0) pen.eraseFrom(place);
  for (const [i, row] of middle.entries()) {
    if (oldMiddle[i] === undefined && row === "") pen.to(start + i);
    pen.writeRow(start + i, oldMiddle[i] ?? "", row);
  }
}
