/** Draws the completion menu. */
import { printable } from "../../terminal.ts";
import { cutToWidth, textWidth } from "../width.ts";
import type { CompletionItem, Completions } from "./completion.ts";

export interface MenuColours {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const MAX_NAME = 32;
/** Before the selected item, before the others, and before its further rows. */
const MARK = "  >";
const INDENT = " ".repeat(4);
const DEEPER = " ".repeat(6);

/**
 * Returns at most `maxRows` rows around the selected item. It is marked by ">"; its name and detail
 * are wrapped where they do not fit, those of the others are cut.
 */
export function menuRows(
  { items, total, isListing, notice }: Completions,
  selected: number,
  { columns, maxRows, colours }: { columns: number; maxRows: number; colours: MenuColours },
): string[] {
  const current = items[selected];
  const widest = Math.max(0, ...items.map(({ name }) => textWidth(shown(name))));
  const width = Math.min(widest, MAX_NAME, columns - INDENT.length);
  const own = current === undefined ? [] : wholeItem(current, width, columns);
  const status = statusOf(items.length, total, isListing, notice);
  const room = maxRows - own.length - (status === undefined ? 0 : 1);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), items.length - 1 - room));
  const last = Math.min(items.length, first + Math.max(0, room) + 1);
  const rows = items.slice(first, last).flatMap((item, index) => {
    if (first + index === selected) return own.map((row) => colours.bold(row));
    return [cut(`${INDENT}${padded(item, width)}`, columns)];
  });
  if (status !== undefined) rows.push(colours.dim(cut(`${INDENT}${status}`, columns)));
  const hidden = Math.max(0, rows.length - maxRows);
  return rows.slice(0, rows.length - hidden);
}

function padded({ name, detail }: CompletionItem, width: number): string {
  const text = shown(name);
  if (detail === undefined || detail === "") return text;
  return `${text}${" ".repeat(Math.max(0, width - textWidth(text)))}  ${shown(detail)}`;
}

function wholeItem(item: CompletionItem, width: number, columns: number): string[] {
  const rows: string[] = [];
  let row = MARK;
  for (const word of padded(item, width).split(/(?<=\s)(?=\S)/)) {
    const isFirst = row === MARK;
    if (isFirst) row += " ";
    if (!isFirst && textWidth(row + word.trimEnd()) > columns) {
      rows.push(row.trimEnd());
      row = DEEPER;
    }
    row += word;
    while (textWidth(row.trimEnd()) > columns) {
      const head = cutToWidth(row, columns);
      rows.push(head);
      row = `${DEEPER}${row.slice(head.length)}`;
    }
  }
  return [...rows, row.trimEnd()];
}

function statusOf(
  count: number,
  total: number,
  isListing: boolean,
  notice: string | undefined,
): string | undefined {
  const parts = [
    ...(total > count ? [`${count} of ${total.toLocaleString("en-US")}`] : []),
    ...(isListing ? ["…listing"] : []),
    ...(notice === undefined ? [] : [notice]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function cut(text: string, columns: number): string {
  return textWidth(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`;
}

function shown(text: string): string {
  return printable(text).replace(/\s+/g, " ");
}
