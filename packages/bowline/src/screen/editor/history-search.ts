/** The incremental search in the history: a query, and the newest entry that contains it. */
import type { Input, Key } from "../keys.ts";
import { cleanText } from "./chips.ts";
import { previousBoundary } from "./grapheme.ts";
import type { HistoryEntry } from "./history-entry.ts";

/** `take` puts the found entry into the editor. `takeAndGoOn`: the key is then the editor's. */
export type SearchStep = "used" | "cancel" | "take" | "takeAndGoOn";

export class HistorySearch {
  readonly #entries: readonly HistoryEntry[];
  #query = "";
  #index = 0;
  #found: HistoryEntry | undefined;

  /** Entries are searched from the first, which is the newest. */
  constructor(entries: readonly HistoryEntry[]) {
    this.#entries = entries;
  }

  get query(): string {
    return this.#query;
  }

  /** The entry that is shown. A query without a match keeps the last one. */
  get found(): HistoryEntry | undefined {
    return this.#found;
  }

  get hasMatch(): boolean {
    return this.#query === "" || this.#index < this.#entries.length;
  }

  /** The index of the query in the text that was found. */
  get matchAt(): number {
    return Math.max(0, this.#found?.text.toLowerCase().indexOf(this.#query.toLowerCase()) ?? 0);
  }

  input(input: Input): SearchStep {
    switch (input.type) {
      case "text":
      case "paste":
        this.setQuery(this.#query + cleanText(input.text));
        return "used";
      case "key":
        return this.#key(input);
    }
  }

  #key({ name, ctrl, alt }: Key): SearchStep {
    if (name === "escape" || (ctrl && (name === "c" || name === "g"))) return "cancel";
    if (name === "enter" && !alt) return "take";
    if (ctrl && name === "r") this.older();
    else if (name === "space" && !ctrl && !alt) this.setQuery(`${this.#query} `);
    else if (name === "backspace" || (ctrl && name === "h"))
      this.setQuery(this.#query.slice(0, previousBoundary(this.#query, this.#query.length)));
    else return "takeAndGoOn";
    return "used";
  }

  setQuery(query: string): void {
    const isLonger = query.startsWith(this.#query) && this.hasMatch;
    this.#query = query;
    if (query === "") this.#found = undefined;
    else this.#seek(isLonger ? this.#index : 0);
  }

  /** Goes to the next older entry with another text. Stays if there is none. */
  older(): void {
    const before = this.#index;
    if (this.#query === "" || !this.hasMatch) return;
    this.#seek(before + 1, this.#found?.text);
    if (!this.hasMatch) this.#index = before;
  }

  #seek(from: number, except?: string): void {
    const query = this.#query.toLowerCase();
    const found = this.#entries.findIndex(
      ({ text }, index) => index >= from && text !== except && text.toLowerCase().includes(query),
    );
    this.#index = found === -1 ? this.#entries.length : found;
    if (found !== -1) this.#found = this.#entries[found];
  }
}
