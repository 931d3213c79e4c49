/** The quotes and list items that are open, with the numbers of lists. */
import type { BlockStart } from "./block-start.ts";
import { matchContainers, prefixesOf, type Container } from "./containers.ts";
import type { RowPrefixes } from "./row.ts";
import type { Paint } from "./span.ts";

/** The last item of a list at some depth, which the next item continues. */
interface ListState {
  readonly kind: string;
  readonly next: number;
}

/** Deeper nesting is shown as text. */
const MAX_DEPTH = 30;

export class Nesting {
  readonly #paint: Paint;
  #containers: Container[] = [];
  #lists: ListState[] = [];

  /** `paint` is for the marks. */
  constructor(paint: Paint) {
    this.#paint = paint;
  }

  get depth(): number {
    return this.#containers.length;
  }

  get isFull(): boolean {
    return this.depth >= MAX_DEPTH;
  }

  /** Returns how many containers a line continues, and the text after their marks. */
  match(line: string): { readonly depth: number; readonly rest: string } {
    return matchContainers(this.#containers, line);
  }

  openQuote(): void {
    this.endLists();
    this.#containers.push({ type: "quote", isShown: false });
  }

  openItem({ kind, number, indent }: BlockStart & { readonly type: "item" }): void {
    const { depth } = this;
    const before = this.#lists[depth];
    const shown = number === undefined ? undefined : before?.kind === kind ? before.next : number;
    this.endLists();
    // A list inside a quote begins deeper than the last one.
    while (this.#lists.length < depth) this.#lists.push({ kind: "", next: 0 });
    this.#lists.push({ kind, next: (shown ?? 0) + 1 });
    this.#containers.push({ type: "item", kind, number: shown, indent, isShown: false });
  }

  /** Ends the lists at this depth, since another block follows them. */
  endLists(): void {
    this.#lists.length = Math.min(this.#lists.length, this.depth);
  }

  /** Returns true if an item deeper than `depth` has shown no marker, since it has no text. */
  hasHiddenItem(depth: number): boolean {
    return this.#containers.slice(depth).some((one) => one.type === "item" && !one.isShown);
  }

  closeTo(depth: number): void {
    this.#containers.length = depth;
  }

  /** Returns an empty row between the last block and the next one. */
  blankRow(columns: number): string {
    const hidden = this.#containers.findIndex((one) => !one.isShown);
    const outer = hidden === -1 ? this.#containers : this.#containers.slice(0, hidden);
    return prefixesOf(outer, columns, this.#paint).rest.text.trimEnd();
  }

  /** Returns the prefixes of the next block, which shows the markers of its items. */
  showPrefixes(columns: number): RowPrefixes {
    const prefixes = prefixesOf(this.#containers, columns, this.#paint);
    this.#containers = this.#containers.map((one) => ({ ...one, isShown: true }));
    return prefixes;
  }

  clone(): Nesting {
    const copy = new Nesting(this.#paint);
    copy.#containers = [...this.#containers];
    copy.#lists = [...this.#lists];
    return copy;
  }
}
