/** The menu under the draft: the completions of what is typed at the cursor. */
import {
  tokenAt,
  type CompletionItem,
  type Completions,
  type CompletionSource,
  type CompletionToken,
} from "./completion.ts";

const LIMIT = 50;
const nothing: Completions = { items: [], total: 0, isListing: false };

export class CompletionMenu {
  readonly #sources: readonly CompletionSource[];
  readonly #onChange: () => void;
  #source: CompletionSource | undefined;
  #token: CompletionToken | undefined;
  #found: Completions = nothing;
  #selected = 0;
  /** The start of the token whose menu was closed. */
  #closedAt: number | undefined;

  constructor(sources: readonly CompletionSource[], onChange: () => void) {
    this.#sources = sources;
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#token !== undefined && (this.#found.items.length > 0 || this.#found.isListing);
  }

  get found(): Completions {
    return this.#found;
  }

  get selected(): number {
    return this.#selected;
  }

  /** Follows the text and the cursor. `isAsked` opens a menu again that was closed. */
  update(text: string, cursor: number, isAsked = false): void {
    const token = tokenAt(text, cursor);
    if (isAsked || token?.start !== this.#closedAt) this.#closedAt = undefined;
    if (token === undefined || this.#closedAt !== undefined) return this.#leave();
    const { trigger, start, query } = token;
    const isNew = this.#token?.start !== start || this.#token.trigger !== trigger;
    const isSame = !isNew && this.#token?.query === query;
    this.#token = token;
    if (isNew) {
      this.#source = this.#sources.find((source) => source.trigger === trigger);
      this.#source?.open?.(() => this.#refresh());
    }
    if (!isSame) this.#selected = 0;
    if (!isSame || isAsked) this.#find();
  }

  move(rows: number): void {
    const { length } = this.#found.items;
    if (length === 0) return;
    const next = this.#selected + rows;
    const isStep = Math.abs(rows) === 1;
    // A step goes round at the ends, a page stops there.
    this.#selected = isStep ? (next + length) % length : Math.min(Math.max(0, next), length - 1);
  }

  /** Returns the replacement of the token by the selected item. */
  take(): { readonly start: number; readonly text: string } | undefined {
    const item = this.#found.items[this.#selected];
    if (this.#token === undefined || this.#source === undefined || item === undefined)
      return undefined;
    return { start: this.#token.start, text: this.#source.textFor(item) };
  }

  /** Returns true if the token is already the text of the selected item. */
  get isComplete(): boolean {
    return this.#found.items[this.#selected]?.name === this.#token?.query;
  }

  /** Closes the menu until another token begins. */
  close(): undefined {
    this.#closedAt = this.#token?.start;
    this.#leave();
  }

  #leave(): void {
    this.#token = undefined;
    this.#source = undefined;
    this.#found = nothing;
    this.#selected = 0;
  }

  #find(): void {
    this.#found = this.#source?.find(this.#token?.query ?? "", LIMIT) ?? nothing;
  }

  /** Keeps the selected item when the source has more names. */
  #refresh(): void {
    const selected: CompletionItem | undefined = this.#found.items[this.#selected];
    this.#find();
    const place = this.#found.items.findIndex(({ name }) => name === selected?.name);
    this.#selected = this.#selected === 0 ? 0 : Math.max(0, place);
    this.#onChange();
  }
}
