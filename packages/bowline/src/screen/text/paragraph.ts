/**
 * A paragraph or a heading while it arrives. Its text is parsed in pieces that end with a sentence
 * or a line, outside of emphasis, code and links. Rows of parsed text are finished.
 */
import type { InlineReader, Mark } from "./inline.ts";
import { RowFlow } from "./row-flow.ts";
import type { Row, RowPrefixes } from "./row.ts";
import { unpainted } from "./span.ts";

/** Shorter text waits for more, since it may become a heading or a table. */
const MIN_PIECE = 200;
/** Longer text is parsed although emphasis or a link may be open. */
const MAX_PIECE = 4000;
const HARD_BREAK = /(?: {2,}|\\)$/;

export interface ParagraphOptions {
  readonly reader: InlineReader;
  readonly columns: number;
  readonly prefixes: RowPrefixes;
  /** Apply to the whole text. */
  readonly marks?: readonly Mark[] | undefined;
}

export class Paragraph {
  readonly #options: ParagraphOptions;
  readonly #flow: RowFlow;
  #text = "";
  #lastLineAt = 0;
  #nextTry = MIN_PIECE;
  #isWhole = true;
  /** A part of the last line was added alone. */
  #isCutLine = false;

  constructor(options: ParagraphOptions, flow?: RowFlow) {
    this.#options = options;
    this.#flow = flow ?? new RowFlow(options.columns, options.prefixes);
  }

  /** The rows' prefixes, for the heading or the table that the paragraph may become. */
  get prefixes(): RowPrefixes {
    return this.#options.prefixes;
  }

  /** The text, if none of it was parsed yet. */
  get wholeText(): string | undefined {
    return this.#isWhole ? this.#text : undefined;
  }

  /** The last line, which may be the header of a table, if it is not parsed yet. */
  get lastLine(): string {
    return this.#isCutLine ? "" : this.#text.slice(this.#lastLineAt);
  }

  addLine(line: string): void {
    if (this.#text !== "") {
      this.#tryToParse(true);
      if (this.#text !== "") this.#text += "\n";
    }
    [this.#lastLineAt, this.#isCutLine] = [this.#text.length, false];
    this.#text += line.trimStart();
  }

  /** Adds the next part of a line. */
  add(part: string): void {
    this.#text += part;
    this.#isCutLine = true;
    this.#tryToParse(false);
  }

  /** Removes the last line, which became the header of a table. */
  dropLastLine(): void {
    this.#text = this.#text.slice(0, this.#lastLineAt).trimEnd();
  }

  get isEmpty(): boolean {
    return this.#isWhole && this.#text === "";
  }

  take(): Row[] {
    return this.#flow.take();
  }

  end(): Row[] {
    this.#parse(this.#text.replace(/\s+$/, ""));
    return this.#flow.end();
  }

  clone(): Paragraph {
    const copy = new Paragraph(this.#options, this.#flow.clone());
    copy.#text = this.#text;
    copy.#lastLineAt = this.#lastLineAt;
    copy.#nextTry = this.#nextTry;
    copy.#isWhole = this.#isWhole;
    copy.#isCutLine = this.#isCutLine;
    return copy;
  }

  #tryToParse(isLineEnd: boolean): void {
    const text = this.#text;
    if (text.length < this.#nextTry) return;
    // Each try reads the whole piece, so a piece that cannot end here is tried again later.
    this.#nextTry = text.length + MIN_PIECE;
    this.#options.reader.countWork(text.length);
    if (text.length < MAX_PIECE && !isBalanced(text)) return;
    if (isLineEnd) {
      this.#parse(text.replace(HARD_BREAK, ""));
      this.#flow.add({ text: HARD_BREAK.test(text) ? "\n" : " ", paint: unpainted });
    } else this.#parse(text);
  }

  #parse(text: string): void {
    const { reader, marks } = this.#options;
    if (text !== "") for (const span of reader.read(text, marks)) this.#flow.add(span);
    [this.#text, this.#nextTry, this.#lastLineAt, this.#isWhole] = ["", MIN_PIECE, 0, false];
  }
}

/** Returns false if emphasis, code or a link seems to be open at the end of the text. */
function isBalanced(text: string): boolean {
  const bare = text.replaceAll(/\\[!-/:-@[-`{-~]/g, "").replaceAll(/(`+)[^`]+?\1(?!`)/g, "");
  if (bare.includes("`")) return false;
  const count = (pattern: RegExp): number => bare.match(pattern)?.length ?? 0;
  return (
    count(/(?<!\*)\*+(?! )|(?<![ *])\*+/g) % 2 === 0 &&
    count(/(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu) % 2 === 0 &&
    count(/~~/g) % 2 === 0 &&
    count(/\[/g) <= count(/\]/g) &&
    count(/\]\(/g) <= count(/\)/g) &&
    !/<[^>\s][^>]*$/.test(bare)
  );
}
