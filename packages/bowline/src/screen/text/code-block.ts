/** Code while it arrives: each line is finished when it ends, parts of a very long one before. */
import type { CellFlow } from "./cell-flow.ts";
import type { LineHighlighter } from "./highlight.ts";
import type { Row } from "./row.ts";
import { unpainted, type Paint } from "./span.ts";

/** A fence that ends the block, or undefined for code without one. */
export interface Fence {
  readonly mark: string;
  /** Spaces before the opening fence, which are removed from each line. */
  readonly indent: number;
}

export class CodeBlock {
  readonly fence: Fence | undefined;
  readonly #flow: CellFlow;
  readonly #highlighter: LineHighlighter | undefined;
  readonly #fencePaint: Paint;
  #rows: Row[] = [];
  #isMid = false;

  constructor(options: {
    readonly flow: CellFlow;
    readonly fence?: Fence | undefined;
    readonly highlighter?: LineHighlighter | undefined;
    readonly fencePaint?: Paint;
  }) {
    this.#flow = options.flow;
    this.fence = options.fence;
    this.#highlighter = options.highlighter;
    this.#fencePaint = options.fencePaint ?? unpainted;
  }

  /** Adds a fence as it was written, so that code can be told from prose without colours. */
  addFence(text: string, isEnd: boolean): void {
    this.#add(text, this.#fencePaint, isEnd);
  }

  /** Returns true if the line is the closing fence. */
  isClosedBy(line: string): boolean {
    const [, mark = ""] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
    return this.fence !== undefined && mark !== "" && mark.startsWith(this.fence.mark);
  }

  addLine(line: string, isEnd: boolean): void {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const text = line.slice(Math.min(indent, this.fence?.indent ?? 0));
    if (!isEnd || this.#highlighter === undefined) return this.#add(text, unpainted, isEnd);
    for (const span of this.#highlighter.line(text)) this.#flow.add(span);
    this.#rows.push(...this.#flow.end());
  }

  /** Adds the next part of a long line. */
  add(part: string, isEnd: boolean): void {
    this.#add(part, unpainted, isEnd);
  }

  take(): Row[] {
    const rows = [...this.#rows, ...this.#flow.take()];
    this.#rows = [];
    return rows;
  }

  end(): Row[] {
    if (this.#isMid) this.#rows.push(...this.#flow.end());
    this.#isMid = false;
    return this.take();
  }

  clone(): CodeBlock {
    const copy = new CodeBlock({
      flow: this.#flow.clone(),
      fence: this.fence,
      highlighter: this.#highlighter?.clone(),
      fencePaint: this.#fencePaint,
    });
    copy.#rows = [...this.#rows];
    copy.#isMid = this.#isMid;
    return copy;
  }

  #add(text: string, paint: Paint, isEnd: boolean): void {
    this.#flow.add({ text, paint });
    this.#isMid = !isEnd;
    if (isEnd) this.#rows.push(...this.#flow.end());
  }
}
