import { printable } from "../../terminal.ts";
import { cutToWidth, textWidth } from "../width.ts";
import type { HistorySearch } from "./history-search.ts";

const HINTS = [" · Enter takes it, Ctrl-R older, Esc back", " · Enter, Ctrl-R, Esc", ""];

/** Returns the row under the text that the search found. Drops the hints that do not fit. */
export function searchRow(search: HistorySearch, columns: number): string {
  const query = printable(search.query).replaceAll("\n", " ");
  const text = `  search: ${query}${search.hasMatch ? "" : " (not found)"}`;
  const hint = HINTS.find((words) => textWidth(text + words) <= columns) ?? "";
  return cutToWidth(text + hint, columns);
}
