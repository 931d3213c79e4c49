/** Moving the cursor up and down by rows. */
import { columnOf, cursorAt, rowIndexOf, rowsOf, type Page, type Row } from "./layout.ts";
import { lineEnd, lineStart } from "./line-bounds.ts";

export type Direction = "up" | "down";

/** Returns the row above or below the cursor's row, or undefined at the edge of the draft. */
function neighbour(page: Page, cursor: number, direction: Direction): Row | undefined {
  const rows = rowsOf(page, cursor);
  const row = rowIndexOf(rows, cursor);
  if (direction === "up") {
    const start = lineStart(page.text, cursor);
    return row > 0 ? rows[row - 1] : start > 0 ? rowsOf(page, start - 1).at(-1) : undefined;
  }
  const end = lineEnd(page.text, cursor);
  if (row < rows.length - 1) return rows[row + 1];
  return end < page.text.length ? rowsOf(page, end + 1)[0] : undefined;
}

/** Returns the column of the cursor in its row. */
export function cursorColumn(page: Page, cursor: number): number {
  const rows = rowsOf(page, cursor);
  const row = rows[rowIndexOf(rows, cursor)];
  return row === undefined ? 0 : columnOf(page, row, cursor);
}

/** Returns the cursor one row up or down, or undefined at the edge of the draft. */
export function moveByRow(
  page: Page,
  cursor: number,
  column: number,
  direction: Direction,
): number | undefined {
  const row = neighbour(page, cursor, direction);
  return row && cursorAt(page, row, column, direction === "down");
}
