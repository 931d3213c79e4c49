/** Going up and down through the history. Each text that was edited on the way is kept. */
import type { DraftPart } from "./draft.ts";

/** A text that the walk keeps, or an entry of the history that is read for the first time. */
export type WalkStep =
  | { readonly type: "entry"; readonly parts: readonly DraftPart[] }
  | { readonly type: "kept"; readonly text: string };

export class HistoryWalk {
  /** Newest first, as they were when the walk began: new entries do not move it. */
  #entries: readonly (readonly DraftPart[])[] = [];
  /** -1 is the draft. */
  #index = -1;
  readonly #kept = new Map<number, string>();

  /** `current` is the text in the editor; it comes back when the walk returns here. */
  older(current: string, entries: () => readonly (readonly DraftPart[])[]): WalkStep | undefined {
    if (this.#index === -1) this.#entries = entries();
    return this.#go(this.#index + 1, current);
  }

  newer(current: string): WalkStep | undefined {
    return this.#go(this.#index - 1, current);
  }

  /** Ends the walk: the text in the editor is the draft. */
  end(): void {
    this.#index = -1;
    this.#entries = [];
    this.#kept.clear();
  }

  #go(index: number, current: string): WalkStep | undefined {
    if (index < -1 || index >= this.#entries.length) return undefined;
    this.#kept.set(this.#index, current);
    this.#index = index;
    const text = this.#kept.get(index);
    return text === undefined
      ? { type: "entry", parts: this.#entries[index] ?? [] }
      : { type: "kept", text };
  }
}
