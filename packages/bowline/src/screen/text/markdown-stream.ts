/**
 * Markdown as styled terminal rows while it arrives. Any cutting of a text into deltas gives the
 * same rows. The cost is linear: a delta touches only the block that is not finished.
 */
import { printable } from "../../terminal.ts";
import type { Colours } from "../colours.ts";
import { Blocks } from "./blocks.ts";
import { Highlighter } from "./highlight.ts";
import { InlineReader } from "./inline.ts";

export interface MarkdownStreamOptions {
  readonly colours: Colours;
  /** Read at the start of each block. */
  readonly columns: () => number;
  readonly linkStyle: "osc8" | "text";
  /** Shared by the streams of a conversation, so that each language is loaded once. */
  readonly highlighter?: Highlighter;
  /** Is told the characters that each step reads, for tests of the cost. */
  readonly onWork?: (characters: number) => void;
}

/** A part of a line of prose ends after a sentence, but not before this many characters. */
const MIN_PART = 120;
/** A longer line is cut anyway, at a space if there is one near. */
const MAX_PART = 4000;
const NEAR_END = 200;
const SENTENCE_END = /[.!?:;][)"'”’*_]{0,3} (?=\S)|[。！？](?=\S)/g;
const LONGEST_END = 6;

export class MarkdownStream {
  readonly #onWork: (characters: number) => void;
  readonly #blocks: Blocks;
  /** The line that is not complete, without the parts of it that were read. */
  #rest = "";
  /** Characters of the rest that were searched for the end of a part. */
  #searched = 0;
  #isLineStart = true;
  /** A high surrogate or carriage return at the end of the last delta. */
  #held = "";
  #tail: { readonly maxRows: number; readonly rows: string[] } | undefined;

  constructor(options: MarkdownStreamOptions) {
    const { colours, columns, linkStyle, onWork = () => undefined } = options;
    this.#onWork = onWork;
    const reader = new InlineReader({ colours, linkStyle, onWork });
    const highlighter = options.highlighter ?? new Highlighter(colours);
    this.#blocks = new Blocks({ colours, columns, reader, highlighter, onWork });
  }

  /** Returns the rows that this text finishes. */
  push(delta: string): string[] {
    if (delta === "") return [];
    this.#tail = undefined;
    const text = this.#held + delta;
    this.#held = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    this.#add(text.slice(0, text.length - this.#held.length));
    return this.#blocks.take();
  }

  /** Returns the rows of the text that is not finished, the last `maxRows` of them. */
  tail(maxRows: number): string[] {
    if (this.#tail?.maxRows === maxRows) return this.#tail.rows;
    const blocks = this.#blocks.clone();
    if (this.#rest !== "") blocks.addLine(this.#rest, true);
    const all = blocks.end(maxRows);
    const rows = maxRows > 0 ? all.slice(-maxRows) : [];
    this.#tail = { maxRows, rows };
    return rows;
  }

  /** Finishes the text. Later calls of `push` begin a new one. */
  end(): string[] {
    this.#tail = undefined;
    this.#add(this.#held);
    this.#held = "";
    if (this.#rest !== "" || !this.#isLineStart) this.#blocks.addLine(this.#rest, true);
    [this.#rest, this.#searched, this.#isLineStart] = ["", 0, true];
    return this.#blocks.end();
  }

  #add(text: string): void {
    if (text === "") return;
    this.#onWork(text.length);
    const safe = printable(text.replaceAll(/\p{Surrogate}/gu, "\ufffd").replaceAll(/\r\n?/g, "\n"));
    let start = 0;
    for (let end = safe.indexOf("\n"); end !== -1; end = safe.indexOf("\n", start)) {
      this.#addToLine(safe.slice(start, end));
      this.#addLine(true, this.#rest.length);
      start = end + 1;
    }
    this.#addToLine(safe.slice(start));
  }

  /** Adds to the current line, and hands over the parts that can be read before its end. */
  #addToLine(text: string): void {
    this.#rest += text;
    for (;;) {
      const end = this.#partEnd();
      if (end === undefined) return;
      this.#addLine(false, end);
    }
  }

  /**
   * Returns where the next part of the line ends. Depends on the text before that place and on one
   * character after it, so that the cutting of the text into deltas does not matter.
   */
  #partEnd(): number | undefined {
    const rest = this.#rest;
    if (rest.length < MIN_PART) return undefined;
    const end = this.#blocks.isProse ? this.#sentenceEnd(rest) : undefined;
    if (end !== undefined && end <= MAX_PART) return end;
    return rest.length > MAX_PART ? cutAt(rest) : undefined;
  }

  #sentenceEnd(rest: string): number | undefined {
    const from = Math.max(0, this.#searched - LONGEST_END);
    this.#searched = rest.length;
    this.#onWork(rest.length - from);
    for (const match of rest.slice(from).matchAll(SENTENCE_END)) {
      const end = from + match.index + match[0].length;
      if (end < MIN_PART) continue;
      // A line with a bar may be the header of a table, which must stay whole.
      return this.#isLineStart && rest.slice(0, end).includes("|") ? undefined : end;
    }
    return undefined;
  }

  #addLine(isEnd: boolean, end: number): void {
    this.#blocks.addLine(this.#rest.slice(0, end), isEnd);
    this.#rest = this.#rest.slice(end);
    this.#searched = 0;
    this.#isLineStart = isEnd;
  }
}

function cutAt(text: string): number {
  const space = text.lastIndexOf(" ", MAX_PART);
  if (space > MAX_PART - NEAR_END) return space + 1;
  return /[\ud800-\udbff]$/.test(text.slice(0, MAX_PART)) ? MAX_PART - 1 : MAX_PART;
}
