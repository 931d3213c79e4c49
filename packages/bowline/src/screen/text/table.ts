/**
 * A table while it arrives. The widths of its columns are known at its end, or after the first
 * hundred rows; later rows keep those widths.
 */
import type { Colours } from "../colours.ts";
import { pieces } from "../width.ts";
import { mayEndRow, mayStartRow } from "./east-asian.ts";
import type { InlineReader } from "./inline.ts";
import { RowFlow } from "./row-flow.ts";
import { cellsOf, type Align } from "./table-text.ts";
import type { Row, RowPrefixes } from "./row.ts";
import { unpainted, type Span } from "./span.ts";

const MAX_WAITING = 100;
const MAX_WAITING_LENGTH = 20_000;
const SEPARATOR = " | ";
interface Cell {
  readonly spans: readonly Span[];
  readonly width: number;
  readonly longestWord: number;
}

type Layout =
  | { readonly type: "columns"; readonly widths: readonly number[]; readonly isWrapped: boolean }
  | { readonly type: "list" };

interface TableOptions {
  readonly header: string;
  readonly alignments: readonly Align[];
  readonly reader: InlineReader;
  readonly colours: Colours;
  readonly columns: number;
  readonly prefixes: RowPrefixes;
}

export class Table {
  readonly #options: TableOptions;
  readonly #header: readonly Cell[];
  #waiting: (readonly Cell[])[] = [];
  #waitingLength = 0;
  #layout: Layout | undefined;
  #rows: Row[] = [];
  #isFirst = true;
  #hasBody = false;

  constructor(options: TableOptions, header?: readonly Cell[]) {
    this.#options = options;
    const bold = ["bold"] as const;
    this.#header =
      header ?? cellsOf(options.header).map((text) => toCell(options.reader.read(text, bold)));
  }

  addLine(line: string): void {
    const count = this.#header.length;
    const texts = cellsOf(line);
    // Cells without a header stay visible in the last column.
    const fitted = [...texts.slice(0, count - 1), texts.slice(count - 1).join(SEPARATOR)];
    const cells = Array.from({ length: count }, (_, index) =>
      toCell(this.#options.reader.read(fitted[index] ?? "")),
    );
    if (this.#layout !== undefined) return this.#draw(cells, this.#layout);
    this.#waiting.push(cells);
    this.#waitingLength += line.length;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingLength >= MAX_WAITING_LENGTH)
      this.#drawWaiting(0);
  }

  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** With `maxRows` only the last rows of the table are drawn. */
  end(maxRows: number = Infinity): Row[] {
    if (this.#layout === undefined) this.#drawWaiting(Math.max(0, this.#waiting.length - maxRows));
    return this.take();
  }

  clone(): Table {
    const copy = new Table(this.#options, this.#header);
    copy.#waiting = [...this.#waiting];
    copy.#waitingLength = this.#waitingLength;
    copy.#layout = this.#layout;
    copy.#rows = [...this.#rows];
    copy.#isFirst = this.#isFirst;
    copy.#hasBody = this.#hasBody;
    return copy;
  }

  #drawWaiting(from: number): void {
    const layout = toLayout([this.#header, ...this.#waiting], this.#room);
    this.#layout = layout;
    if (layout.type === "columns") {
      this.#drawColumns(this.#header, layout);
      this.#drawRule(layout, true);
    } else if (this.#waiting.length === 0)
      for (const cell of this.#header) this.#drawText(cell.spans);
    for (const cells of this.#waiting.slice(from)) this.#draw(cells, layout);
    this.#waiting = [];
  }

  get #room(): number {
    const { first, rest } = this.#options.prefixes;
    return this.#options.columns - Math.max(first.width, rest.width);
  }

  #draw(cells: readonly Cell[], layout: Layout): void {
    const isList =
      layout.type === "list" ||
      cells.some(({ longestWord }, index) => longestWord > (layout.widths[index] ?? 0));
    if (isList) {
      if (this.#hasBody) this.#push("", 0);
      this.#hasBody = true;
      return this.#drawList(cells);
    }
    // Rows of several lines need a line between them.
    if (layout.isWrapped && this.#hasBody) this.#drawRule(layout, false);
    this.#hasBody = true;
    this.#drawColumns(cells, layout);
  }

  /** Draws each cell as "header: value" on a row of its own. */
  #drawList(cells: readonly Cell[]): void {
    cells.forEach((cell, index) => {
      const header = this.#header[index];
      const colon = { text: ": ", paint: unpainted };
      const isNamed = header !== undefined && header.spans.length > 0;
      this.#drawText(isNamed ? [...header.spans, colon, ...cell.spans] : cell.spans);
    });
  }

  #drawText(spans: readonly Span[]): void {
    const hanging = { text: "  ", width: 2 };
    const flow = new RowFlow(this.#room, { first: { text: "", width: 0 }, rest: hanging });
    for (const span of spans) flow.add(span);
    for (const { text, width } of flow.end()) this.#push(text, width);
  }

  #drawColumns(cells: readonly Cell[], { widths }: { readonly widths: readonly number[] }): void {
    const { alignments, colours } = this.#options;
    const columns = cells.map(({ spans }, index) => {
      const flow = new RowFlow(widths[index] ?? 2);
      for (const span of spans) flow.add(span);
      return flow.end();
    });
    const height = Math.max(1, ...columns.map((rows) => rows.length));
    for (let line = 0; line < height; line++) {
      const parts = columns.map((rows, index) =>
        aligned(rows[line] ?? { text: "", width: 0 }, widths[index] ?? 2, alignments[index]),
      );
      const width = widths.reduce(
        (sum, cell) => sum + cell,
        SEPARATOR.length * (widths.length - 1),
      );
      this.#push(parts.join(colours.dim(SEPARATOR)).trimEnd(), width);
    }
  }

  #drawRule({ widths }: { readonly widths: readonly number[] }, isHeader: boolean): void {
    const { alignments, colours } = this.#options;
    const dashes = widths.map((width, index) => {
      const align = isHeader ? alignments[index] : "left";
      const start = align === "centre" ? ":" : "-";
      return start + "-".repeat(Math.max(0, width - 2)) + (align === "left" ? "-" : ":");
    });
    const text = dashes
      .map((dash, index) => dash.slice(0, widths[index]))
      .join(isHeader ? "-|-" : "-+-");
    this.#push(colours.dim(text), text.length);
  }

  #push(text: string, width: number): void {
    const { first, rest } = this.#options.prefixes;
    const prefix = this.#isFirst ? first : rest;
    this.#isFirst = false;
    const shown = text === "" ? prefix.text.trimEnd() : prefix.text + text;
    this.#rows.push({ text: shown, width: prefix.width + width });
  }
}

function toCell(spans: readonly Span[]): Cell {
  let [width, line, longestWord, word] = [0, 0, 0, 0];
  let [before, isWideBefore] = ["", false];
  for (const span of spans)
    for (const { text, columns } of pieces(span.text)) {
      const isSpace = text === " " || text === "\n";
      const isWide = columns === 2;
      // A row may end at a wide character, except where punctuation belongs to its neighbour.
      const canBreak = (isWide || isWideBefore) && mayEndRow(before) && mayStartRow(text);
      line = text === "\n" ? 0 : line + columns;
      word = isSpace ? 0 : (canBreak ? 0 : word) + columns;
      width = Math.max(width, line);
      longestWord = Math.max(longestWord, word);
      [before, isWideBefore] = [text, isWide];
    }
  return { spans, width, longestWord };
}

function toLayout(rows: readonly (readonly Cell[])[], room: number): Layout {
  const count = rows[0]?.length ?? 0;
  const widest = (size: (cell: Cell) => number, index: number): number =>
    rows.reduce(
      (most, cells) => Math.max(most, cells[index] === undefined ? 0 : size(cells[index])),
      2,
    );
  const natural = Array.from({ length: count }, (_, index) => widest(({ width }) => width, index));
  const available = room - SEPARATOR.length * (count - 1);
  const sum = (widths: readonly number[]): number =>
    widths.reduce((total, width) => total + width, 0);
  if (sum(natural) <= available) return { type: "columns", widths: natural, isWrapped: false };
  // A word that is broken inside of a cell cannot be read.
  const least = Array.from({ length: count }, (_, index) =>
    widest(({ longestWord }) => longestWord, index),
  );
  const spare = available - sum(least);
  if (spare < 0) return { type: "list" };
  const wanted = natural.map((width, index) => width - (least[index] ?? 0));
  const share = Math.min(1, spare / sum(wanted));
  const widths = least.map((width, index) => width + Math.floor((wanted[index] ?? 0) * share));
  return { type: "columns", widths, isWrapped: true };
}

function aligned({ text, width }: Row, columns: number, align: Align = "left"): string {
  const gap = Math.max(0, columns - width);
  const before = align === "right" ? gap : align === "centre" ? Math.floor(gap / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(gap - before);
}
