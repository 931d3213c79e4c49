/**
 * Breaks one line of code into rows that are filled to the last cell.
 *
 * A terminal copies every character that it shows, and leaves out only attributes. So the mark of a
 * wrapped line is an attribute: its last cell is inverse. The rest of the line follows without
 * indentation, and the row ends in {@link SOFT_END}: a screen that then writes no line feed lets the
 * terminal wrap by itself, and copying gives the line as it was. Where attributes are off, or
 * text stands before each row, as in quotes, the mark is an arrow, which is copied with the rest.
 */
import { pieces } from "../width.ts";
import type { Colours } from "../colours.ts";
import { noPrefixes, type Row, type RowPrefixes } from "./row.ts";
import { paintSpans, type Paint, type Span } from "./span.ts";

/**
 * Ends a row that continues on the next one. For a terminal it is a reset; a screen may take it as
 * "write no line feed after this row".
 */
export const SOFT_END = "\u001b[0;0m";

const ARROW = "\u21aa ";
const TAB = 4;

export class CellFlow {
  readonly #columns: number;
  readonly #prefixes: RowPrefixes;
  readonly #colours: Colours;
  readonly #isSoft: boolean;
  #rows: Row[] = [];
  #isFirst = true;
  /** The row continues the line of the row before. */
  #isContinued = false;
  #row: Span[] = [];
  #width = 0;
  /** Cells of the line so far, for tab stops. */
  #cells = 0;

  /** `wrap` "arrow" keeps the prefix before each row, as diffs need it. */
  constructor(
    columns: number,
    colours: Colours,
    prefixes: RowPrefixes = noPrefixes,
    wrap: "terminal" | "arrow" = "terminal",
  ) {
    this.#columns = columns;
    this.#colours = colours;
    this.#prefixes = prefixes;
    this.#isSoft = wrap === "terminal" && colours.isOn && prefixes.rest.text.trim() === "";
  }

  add({ text, paint }: Span): void {
    for (const { text: char, columns } of pieces(text)) {
      if (char === "\t") {
        const spaces = TAB - (this.#cells % TAB);
        for (let count = 0; count < spaces; count++) this.#addCell(" ", 1, paint);
      } else this.#addCell(char, columns, paint);
    }
  }

  /** Returns the rows that are finished since the last call. */
  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Ends the line and returns its rows. The next line begins with the prefix of other rows. */
  end(): Row[] {
    this.#finishRow(false);
    this.#cells = 0;
    return this.take();
  }

  clone(): CellFlow {
    const wrap = this.#isSoft ? "terminal" : "arrow";
    const copy = new CellFlow(this.#columns, this.#colours, this.#prefixes, wrap);
    copy.#rows = [...this.#rows];
    copy.#isFirst = this.#isFirst;
    copy.#row = [...this.#row];
    copy.#width = this.#width;
    copy.#cells = this.#cells;
    copy.#isContinued = this.#isContinued;
    return copy;
  }

  get #lead(): { readonly text: string; readonly width: number } {
    const prefix = this.#isFirst ? this.#prefixes.first : this.#prefixes.rest;
    if (!this.#isContinued) return prefix;
    if (this.#isSoft) return { text: "", width: 0 };
    const { dim } = this.#colours;
    return { text: prefix.text + dim(ARROW), width: prefix.width + ARROW.length };
  }

  #addCell(text: string, columns: number, paint: Paint): void {
    if (this.#width > 0 && this.#lead.width + this.#width + columns > this.#columns)
      this.#finishRow(true);
    this.#row.push({ text, paint });
    this.#width += columns;
    this.#cells += columns;
  }

  #finishRow(isContinued: boolean): void {
    const lead = this.#lead;
    const isMarked = isContinued && this.#isSoft;
    if (isMarked) this.#markLast();
    const text = this.#row.length === 0 ? lead.text.trimEnd() : lead.text + paintSpans(this.#row);
    this.#rows.push({ text: isMarked ? text + SOFT_END : text, width: lead.width + this.#width });
    [this.#row, this.#width, this.#isFirst, this.#isContinued] = [[], 0, false, isContinued];
  }

  #markLast(): void {
    const last = this.#row.pop();
    if (last === undefined) return;
    const { inverse } = this.#colours;
    this.#row.push({ text: last.text, paint: (text) => inverse(last.paint(text)) });
  }
}
