/** The part of a draft that fits on the screen, around the cursor. */
import { cutToWidth } from "../width.ts";
import { columnOf, rowIndexOf, rowsOf, rowText, type Page, type Row } from "./layout.ts";
import { countLineFeeds, lineEnd, lineStart } from "./line-bounds.ts";

export interface DraftRows {
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const PROMPT = "> ";
const INDENT = "  ";
/** The columns before the text of each row. */
export const PROMPT_COLUMNS: number = PROMPT.length;

/**
 * Draws at most `maxRows` rows. Lays out only the lines near the cursor, so that the time does not
 * depend on the length of the draft.
 */
export function drawDraft(page: Page, cursor: number, maxRows: number): DraftRows {
  const { rows, current } = visibleRows(page, cursor, Math.max(1, maxRows));
  const lines = rows.map((row) => prefixOf(row) + rowText(page, row).trimEnd());
  const row = rows[current] as Row;
  const column = PROMPT.length + columnOf(page, row, cursor);
  const [above, below] = hiddenLines(page.text, rows);
  if (above > 0 && current > 0) lines[0] = mark("above", hiddenWith(above, rows, 0));
  if (below > 0 && current < rows.length - 1)
    lines[lines.length - 1] = mark("below", hiddenWith(below, rows, rows.length - 1));
  return { lines, cursor: { row: current, column } };

  function mark(where: "above" | "below", count: number): string {
    return INDENT + cutToWidth(moreText(where, count), page.width);
  }

  function prefixOf({ start }: Row): string {
    return start.index === 0 && start.words === 0 ? PROMPT : INDENT;
  }

  /** The mark takes a row: a line that was whole is hidden as well. */
  function hiddenWith(hidden: number, shown: readonly Row[], index: number): number {
    const { start, end } = shown[index] as Row;
    const isPart =
      index === 0 ? !isLineStart(page.text, start.index) : !isLineEnd(page.text, end.index);
    return hidden + (isPart ? 0 : 1);
  }
}

/** Takes rows above and below the cursor's row in turn until the space is used up. */
function visibleRows(
  page: Page,
  cursor: number,
  maxRows: number,
): { readonly rows: readonly Row[]; readonly current: number } {
  const own = rowsOf(page, cursor);
  const at = rowIndexOf(own, cursor);
  const above = rowsAbove(page, own, at);
  const below = rowsBelow(page, own, at);
  const before: Row[] = [];
  const after: Row[] = [];
  let isFull = false;
  while (!isFull) {
    const size = before.length + after.length + 1;
    const up = size < maxRows ? above.next() : { done: true as const, value: undefined };
    if (up.done !== true) before.unshift(up.value);
    const room = before.length + after.length + 1 < maxRows;
    const down = room ? below.next() : { done: true as const, value: undefined };
    if (down.done !== true) after.push(down.value);
    isFull = up.done === true && down.done === true;
  }
  return { rows: [...before, own[at] as Row, ...after], current: before.length };
}

function* rowsAbove(page: Page, own: readonly Row[], at: number): Generator<Row, undefined> {
  yield* own.slice(0, at).toReversed();
  let start = lineStart(page.text, own[0]?.start.index ?? 0);
  while (start > 0) {
    const rows = rowsOf(page, start - 1);
    yield* rows.toReversed();
    start = lineStart(page.text, start - 1);
  }
}

function* rowsBelow(page: Page, own: readonly Row[], at: number): Generator<Row, undefined> {
  yield* own.slice(at + 1);
  let end = lineEnd(page.text, own.at(-1)?.end.index ?? 0);
  while (end < page.text.length) {
    yield* rowsOf(page, end + 1);
    end = lineEnd(page.text, end + 1);
  }
}

/** Returns the number of lines above and below that are not shown, or not in full. */
function hiddenLines(text: string, rows: readonly Row[]): readonly [number, number] {
  const start = rows[0]?.start ?? { index: 0, words: 0 };
  const end = rows.at(-1)?.end ?? { index: 0, words: 0 };
  const above =
    countLineFeeds(text, 0, start.index) +
    (start.words === 0 && isLineStart(text, start.index) ? 0 : 1);
  const below =
    countLineFeeds(text, end.index, text.length) +
    (end.words === 0 && isLineEnd(text, end.index) ? 0 : 1);
  return [above, below];
}

function isLineStart(text: string, index: number): boolean {
  return index === 0 || text[index - 1] === "\n";
}

function isLineEnd(text: string, index: number): boolean {
  return index === text.length || text[index] === "\n";
}

function moreText(where: "above" | "below", count: number): string {
  const lines = count === 1 ? "line" : "lines";
  return `… ${count.toLocaleString("en-US")} more ${lines} ${where}`;
}
