/** Joins rows of wrapped code again, for a screen that lets the terminal wrap long lines. */
import { SOFT_END } from "./cell-flow.ts";

/**
 * Returns lines for a screen that writes each with one line feed. A line that was wrapped for the
 * window's width becomes one line, so that the terminal wraps it at the same places and copies it as
 * one. Only for finished rows: a live area counts its rows.
 */
export function joinSoftRows(rows: readonly string[]): string[] {
  const lines: string[] = [];
  let open = "";
  for (const row of rows) {
    if (row.endsWith(SOFT_END)) open += row.slice(0, -SOFT_END.length);
    else {
      lines.push(open + row);
      open = "";
    }
  }
  return open === "" ? lines : [...lines, open];
}
