/**
 * Splits lines of Markdown into blocks and draws them while they arrive. Each line is read once;
 * finished rows never change. This is CommonMark without what needs later text: a link definition
 * is shown as text, and a heading underlined with `===` must be short.
 */
import type { Colours } from "../colours.ts";
import { blockStart, expandIndent, isBlank, type BlockStart } from "./block-start.ts";
import { CellFlow } from "./cell-flow.ts";
import { cloneBlock, type Block } from "./block.ts";
import { CodeBlock } from "./code-block.ts";
import type { Highlighter } from "./highlight.ts";
import type { InlineReader } from "./inline.ts";
import { Nesting } from "./nesting.ts";
import { Paragraph } from "./paragraph.ts";
import { rowText, type Row, type RowPrefixes } from "./row.ts";
import { Table } from "./table.ts";
import { alignmentsOf } from "./table-text.ts";

export interface BlockOptions {
  readonly colours: Colours;
  readonly columns: () => number;
  readonly reader: InlineReader;
  readonly highlighter: Highlighter;
  readonly onWork: (characters: number) => void;
}

export class Blocks {
  readonly #options: BlockOptions;
  #out: string[] = [];
  #nesting: Nesting;
  #block: Block | undefined;
  /** The last line goes on with the next call. */
  #isMid = false;
  #isBlankBefore = false;
  #hasOutput = false;

  constructor(options: BlockOptions) {
    this.#options = options;
    this.#nesting = new Nesting(options.colours.dim);
  }

  /** Returns true if the current line is prose, so that it may be cut after a sentence. */
  get isProse(): boolean {
    const type = this.#block?.type;
    return type === undefined || type === "paragraph" || type === "heading";
  }

  /** Adds a line, or the next part of it. `isEnd`: the line is complete. */
  addLine(text: string, isEnd: boolean): void {
    const isMid = this.#isMid;
    this.#isMid = !isEnd;
    if (isMid) this.#addPart(text, isEnd);
    else this.#startLine(expandIndent(text), isEnd);
    if (isEnd && this.#block?.type === "heading") this.#closeBlock();
    else if (this.#block !== undefined) this.#print(this.#block.content.take());
  }

  take(): string[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** With `maxRows` a table draws only its last rows. */
  end(maxRows: number = Infinity): string[] {
    if (this.#block?.type === "table") this.#print(this.#block.content.end(maxRows));
    this.#closeTo(0);
    return this.take();
  }

  clone(): Blocks {
    const copy = new Blocks(this.#options);
    copy.#out = [...this.#out];
    copy.#nesting = this.#nesting.clone();
    copy.#block = this.#block && cloneBlock(this.#block);
    copy.#isMid = this.#isMid;
    copy.#isBlankBefore = this.#isBlankBefore;
    copy.#hasOutput = this.#hasOutput;
    return copy;
  }

  #startLine(line: string, isEnd: boolean): void {
    const { depth, rest } = this.#nesting.match(line);
    const isInside = depth === this.#nesting.depth;
    const block = this.#block;
    if (isInside && block?.type === "code") return this.#addCode(block.content, rest, isEnd);
    if (isEnd && isBlank(rest)) return this.#addBlank(depth);
    // A line without the marks of a quote or item goes on with the paragraph in it.
    const start = blockStart(rest, isInside && block?.type === "paragraph");
    if (!isInside) {
      if (block?.type === "paragraph" && (start.type === "text" || start.type === "indented"))
        return this.#addText(rest.trimStart(), isEnd);
      this.#closeTo(depth);
    }
    this.#open(start, rest, isEnd);
  }

  /** Opens the quotes and items that the line begins, and adds the rest of it. */
  #open(first: BlockStart, line: string, isEnd: boolean): void {
    let start = first;
    let rest = line;
    while (start.type === "quote" || start.type === "item") {
      if (this.#nesting.isFull) return this.#addText(rest, isEnd);
      this.#closeBlock();
      if (start.type === "quote") this.#nesting.openQuote();
      else this.#nesting.openItem(start);
      rest = start.rest;
      if (isBlank(rest)) return;
      start = blockStart(rest, false);
    }
    this.#nesting.endLists();
    this.#addBlock(start, rest, isEnd);
  }

  #addBlock(
    start: Exclude<BlockStart, { type: "quote" | "item" }>,
    rest: string,
    isEnd: boolean,
  ): void {
    switch (start.type) {
      case "heading": {
        const text = `${"#".repeat(start.level)} ${start.text}`;
        this.#closeBlock();
        const content = this.#paragraph(["bold"]);
        this.#block = { type: "heading", content };
        // The mark of the heading is no emphasis: it is shown as it is.
        return content.addLine(text);
      }
      case "fence":
        return this.#openFence(start, isEnd);
      case "rule":
        return this.#addRule(rest);
      case "html":
        if (this.#block?.type !== "html") this.#openVerbatim("html");
        return this.#addVerbatim(rest, isEnd);
      case "indented":
        if (this.#block?.type === "html") return this.#addVerbatim(rest, isEnd);
        if (this.#block?.type !== "indented") this.#openVerbatim("indented");
        return this.#addVerbatim(rest, isEnd);
      case "text":
        return this.#addText(rest, isEnd);
    }
  }

  #addText(text: string, isEnd: boolean): void {
    const block = this.#block;
    if (block?.type === "html") return this.#addVerbatim(text, isEnd);
    if (block?.type === "table") return block.content.addLine(text);
    if (block?.type === "paragraph") {
      if (isEnd && this.#isUnderline(block.content, text)) return;
      const alignments = isEnd ? alignmentsOf(text, block.content.lastLine) : undefined;
      if (alignments === undefined) return block.content.addLine(text);
      const header = block.content.lastLine;
      block.content.dropLastLine();
      this.#openTable(block.content, header, alignments);
      return;
    }
    this.#closeBlock();
    const content = this.#paragraph();
    this.#block = { type: "paragraph", content };
    content.addLine(text);
  }

  /** Makes a heading of the paragraph if the line underlines it. */
  #isUnderline(paragraph: Paragraph, line: string): boolean {
    const [, mark] = /^ {0,3}(=|-)\1*[ \t]*$/.exec(line) ?? [];
    const text = paragraph.wholeText;
    if (mark === undefined || text === undefined || text === "") return false;
    const level = mark === "=" ? 1 : 2;
    const content = this.#paragraph(["bold"], paragraph.prefixes);
    this.#block = { type: "heading", content };
    content.addLine(`${"#".repeat(level)} ${text}`);
    return true;
  }

  #openTable(
    before: Paragraph,
    header: string,
    alignments: ReturnType<typeof alignmentsOf> = [],
  ): void {
    const own = before.isEmpty ? before.prefixes : undefined;
    this.#closeBlock();
    const { reader, colours } = this.#options;
    const content = new Table({
      header,
      alignments,
      reader,
      colours,
      columns: this.#columns,
      prefixes: own ?? this.#prefixes(),
    });
    this.#block = { type: "table", content };
  }

  #openFence(
    { mark, indent, info }: BlockStart & { readonly type: "fence" },
    isEnd: boolean,
  ): void {
    this.#closeBlock();
    const { colours, highlighter, onWork } = this.#options;
    const [language = ""] = info.split(/[\s{,:]/);
    const content = new CodeBlock({
      flow: new CellFlow(this.#columns, colours, this.#prefixes()),
      fence: { mark, indent },
      highlighter: highlighter.start(language, onWork),
      fencePaint: colours.dim,
    });
    this.#block = { type: "code", content };
    content.addFence(mark + info, isEnd);
  }

  #addCode(content: CodeBlock, line: string, isEnd: boolean): void {
    if (!isEnd || !content.isClosedBy(line)) return content.addLine(line, isEnd);
    content.addFence(line.trim(), true);
    this.#closeBlock();
  }

  #openVerbatim(type: "html" | "indented"): void {
    this.#closeBlock();
    const flow = new CellFlow(this.#columns, this.#options.colours, this.#prefixes());
    this.#block = { type, content: new CodeBlock({ flow }) };
  }

  #addVerbatim(line: string, isEnd: boolean): void {
    const block = this.#block;
    if (block?.type === "html" || block?.type === "indented") block.content.addLine(line, isEnd);
  }

  #addRule(line: string): void {
    const block = this.#block;
    if (block?.type === "paragraph" && this.#isUnderline(block.content, line)) return;
    this.#closeBlock();
    const { first } = this.#prefixes();
    const width = Math.max(3, Math.min(40, this.#columns - first.width));
    this.#print([{ text: first.text + this.#options.colours.dim("-".repeat(width)), width }]);
  }

  #addBlank(depth: number): void {
    this.#closeBlock();
    this.#closeTo(depth);
    this.#isBlankBefore = this.#hasOutput;
  }

  #addPart(text: string, isEnd: boolean): void {
    const block = this.#block;
    if (block === undefined || block.type === "table") return this.#addText(text, isEnd);
    if (block.type === "paragraph" || block.type === "heading") block.content.add(text);
    else block.content.add(text, isEnd);
  }

  #paragraph(marks?: readonly ["bold"], own?: RowPrefixes): Paragraph {
    const { reader } = this.#options;
    return new Paragraph({
      reader,
      columns: this.#columns,
      prefixes: own ?? this.#prefixes(),
      marks,
    });
  }

  get #columns(): number {
    return Math.max(8, this.#options.columns());
  }

  /** Returns the prefixes of a new block, after the empty row that stands before it. */
  #prefixes(): RowPrefixes {
    if (this.#isBlankBefore) this.#out.push(this.#nesting.blankRow(this.#columns));
    this.#isBlankBefore = false;
    return this.#nesting.showPrefixes(this.#columns);
  }

  #closeTo(depth: number): void {
    if (this.#nesting.depth <= depth) return depth === 0 ? this.#closeBlock() : undefined;
    this.#closeBlock();
    // An item without text still shows its marker.
    if (this.#nesting.hasHiddenItem(depth)) {
      const { first } = this.#prefixes();
      this.#print([{ text: first.text.trimEnd(), width: first.width }]);
    }
    this.#nesting.closeTo(depth);
  }

  #closeBlock(): void {
    const block = this.#block;
    this.#block = undefined;
    if (block !== undefined) this.#print(block.content.end());
  }

  #print(rows: readonly Row[]): void {
    if (rows.length > 0) this.#hasOutput = true;
    for (const row of rows) this.#out.push(rowText(row));
  }
}
