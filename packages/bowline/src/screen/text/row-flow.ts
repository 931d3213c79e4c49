/**
 * Breaks prose into rows, by words, while it arrives. A row is finished as soon as the next word
 * does not fit, so finished rows never change.
 */
import { pieces } from "../width.ts";
import { mayEndRow, mayStartRow } from "./east-asian.ts";
import { noPrefixes, type Row, type RowPrefixes } from "./row.ts";
import { paintSpans, type Paint, type Span } from "./span.ts";

const TAB = "    ";
const ASCII = /^[\x20-\x7e]*$/;
export class RowFlow {
  readonly #columns: number;
  readonly #prefixes: RowPrefixes;
  #rows: Row[] = [];
  #isFirst = true;
  #row: Span[] = [];
  #rowWidth = 0;
  #space: Span | undefined;
  #word: Span[] = [];
  #wordWidth = 0;
  /** The last character may be followed by a break, although no space follows. */
  #canBreak = false;
  readonly #keepsSpaces: boolean;

  /** `keepsSpaces` keeps all spaces between two words of a row; else one separates them. */
  constructor(columns: number, prefixes: RowPrefixes = noPrefixes, keepsSpaces = false) {
    this.#columns = columns;
    this.#prefixes = prefixes;
    this.#keepsSpaces = keepsSpaces;
  }

  /** Adds text. A line feed breaks the row; other white space separates words. */
  add({ text, paint }: Span): void {
    for (const [token] of text.matchAll(/\n|[ \t]+|[^ \t\n]+/g)) {
      if (token === "\n") this.break();
      else if (token.startsWith(" ") || token.startsWith("\t")) this.#addSpace(token, paint);
      else if (ASCII.test(token)) this.#addAscii(token, paint);
      else this.#addClusters(token, paint);
    }
  }

  break(): void {
    this.#commit();
    this.#space = undefined;
    this.#finishRow();
  }

  /** Returns the rows that are finished since the last call. */
  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Finishes the last row, if it has text, and returns the rows. */
  end(): Row[] {
    this.#commit();
    if (this.#row.length > 0) this.#finishRow();
    return this.take();
  }

  clone(): RowFlow {
    const copy = new RowFlow(this.#columns, this.#prefixes, this.#keepsSpaces);
    copy.#rows = [...this.#rows];
    copy.#isFirst = this.#isFirst;
    copy.#row = [...this.#row];
    copy.#rowWidth = this.#rowWidth;
    copy.#space = this.#space;
    copy.#word = [...this.#word];
    copy.#wordWidth = this.#wordWidth;
    copy.#canBreak = this.#canBreak;
    return copy;
  }

  get #prefix(): RowPrefixes["first"] {
    return this.#isFirst ? this.#prefixes.first : this.#prefixes.rest;
  }

  get #room(): number {
    return Math.max(2, this.#columns - this.#prefix.width);
  }

  #addSpace(token: string, paint: Paint): void {
    this.#commit();
    const text = this.#keepsSpaces ? token.replaceAll("\t", TAB) : " ";
    if (this.#row.length > 0) this.#space ??= { text, paint };
  }

  #addAscii(token: string, paint: Paint): void {
    if (this.#canBreak) this.#commit();
    for (let at = 0; at < token.length;) {
      const part = token.slice(at, at + Math.max(1, this.#room + 1 - this.#wordWidth));
      this.#addToWord({ text: part, paint }, part.length);
      at += part.length;
    }
  }

  #addClusters(token: string, paint: Paint): void {
    for (const { text, columns } of pieces(token)) {
      const isWide = columns === 2;
      const isAllowed = mayEndRow(this.#word.at(-1)?.text ?? "") && mayStartRow(text);
      if ((isWide || this.#canBreak) && isAllowed) this.#commit();
      this.#addToWord({ text, paint }, columns);
      this.#canBreak = isWide && mayEndRow(text);
    }
  }

  #addToWord(span: Span, width: number): void {
    this.#word.push(span);
    this.#wordWidth += width;
    this.#canBreak = false;
    if (this.#wordWidth <= this.#room) return;
    // The word is longer than a row: start it on a row of its own and fill that.
    if (this.#row.length > 0) {
      this.#space = undefined;
      this.#finishRow();
    }
    while (this.#wordWidth > this.#room) this.#fillRow();
  }

  /** Moves as much of the word to the empty row as fits, and finishes it. */
  #fillRow(): void {
    const room = this.#room;
    const rest: Span[] = [];
    let restWidth = 0;
    let isFull = false;
    for (const { text, paint } of this.#word)
      for (const piece of pieces(text)) {
        isFull ||= this.#rowWidth + piece.columns > room;
        if (isFull) {
          rest.push({ text: piece.text, paint });
          restWidth += piece.columns;
        } else {
          this.#row.push({ text: piece.text, paint });
          this.#rowWidth += piece.columns;
        }
      }
    this.#word = rest;
    this.#wordWidth = restWidth;
    this.#finishRow();
  }

  /** Ends the word: puts it on the row, or on a new one if it does not fit. */
  #commit(): void {
    this.#canBreak = false;
    if (this.#word.length === 0) return;
    const gap = this.#space?.text.length ?? 0;
    if (this.#row.length > 0 && this.#rowWidth + gap + this.#wordWidth > this.#room) {
      this.#finishRow();
      // Other rows may have less room than the first.
      while (this.#wordWidth > this.#room) this.#fillRow();
    } else if (this.#space !== undefined) this.#row.push(this.#space);
    this.#rowWidth += (this.#row.length > 0 ? gap : 0) + this.#wordWidth;
    this.#row.push(...this.#word);
    [this.#space, this.#word, this.#wordWidth] = [undefined, [], 0];
  }

  #finishRow(): void {
    const prefix = this.#prefix;
    const text = paintSpans(this.#row);
    this.#rows.push({
      text: text === "" ? prefix.text.trimEnd() : prefix.text + text,
      width: prefix.width + this.#rowWidth,
    });
    [this.#row, this.#rowWidth, this.#space, this.#isFirst] = [[], 0, undefined, false];
  }
}
