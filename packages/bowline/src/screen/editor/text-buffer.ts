/** The text of a draft, its cursor, and the edits to undo. */

/** An edit that may be merged with the previous one of the same kind, so that one undo takes both. */
export type EditKind = "type" | "delete" | "other";

interface Edit {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
  readonly cursor: number;
  readonly kind: EditKind;
}

const MAX_EDITS = 200;

export class TextBuffer {
  #text = "";
  #cursor = 0;
  #edits: Edit[] = [];

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  moveTo(cursor: number): void {
    this.#cursor = Math.min(Math.max(0, cursor), this.#text.length);
  }

  /** Replaces a range, and puts the cursor behind what was inserted. */
  replace(start: number, end: number, inserted: string, kind: EditKind = "other"): void {
    const removed = this.#text.slice(start, end);
    if (removed === inserted) {
      this.#cursor = end;
      return;
    }
    this.#record({ at: start, removed, inserted, cursor: this.#cursor, kind });
    this.#text = this.#text.slice(0, start) + inserted + this.#text.slice(end);
    this.#cursor = start + inserted.length;
  }

  /** Reverts the last edit. Returns false if there is none. */
  undo(): boolean {
    const edit = this.#edits.pop();
    if (edit === undefined) return false;
    const { at, removed, inserted, cursor } = edit;
    this.#text = this.#text.slice(0, at) + removed + this.#text.slice(at + inserted.length);
    this.#cursor = cursor;
    return true;
  }

  /** Begins a new draft. There is nothing to undo in it. */
  reset(): void {
    this.#text = "";
    this.#cursor = 0;
    this.#edits = [];
  }

  #record(edit: Edit): void {
    const merged = merge(this.#edits.at(-1), edit);
    if (merged !== undefined) this.#edits.pop();
    this.#edits.push(merged ?? edit);
    if (this.#edits.length > MAX_EDITS) this.#edits.shift();
  }
}

/** Typing is undone by words; deleting with one key, as a whole. */
function merge(last: Edit | undefined, edit: Edit): Edit | undefined {
  if (last === undefined || last.kind !== edit.kind) return undefined;
  if (edit.kind === "type") {
    const isNext = last.at + last.inserted.length === edit.at && edit.removed === "";
    const isNewWord = /\s$/.test(last.inserted) && !/^\s/.test(edit.inserted);
    return isNext && !isNewWord ? { ...last, inserted: last.inserted + edit.inserted } : undefined;
  }
  if (edit.kind !== "delete" || last.inserted !== "" || edit.inserted !== "") return undefined;
  if (edit.at + edit.removed.length === last.at)
    return { ...last, at: edit.at, removed: edit.removed + last.removed };
  return edit.at === last.at ? { ...last, removed: last.removed + edit.removed } : undefined;
}
