/** A draft with its folded pastes and images, and the cursor's rows. */
import { Chips, cleanText } from "./chips.ts";
import {
  draftOf,
  labelOf,
  lineCount,
  type Draft,
  type DraftImage,
  type DraftPart,
} from "./draft.ts";
import { cursorAt, rowsOf, type Page } from "./layout.ts";
import { pastedImagePaths } from "./pasted-paths.ts";
import type { TextCommand } from "./keymap.ts";
import type { PendingImages } from "./pending-images.ts";
import type { TextBuffer } from "./text-buffer.ts";
import { TextEditing } from "./text-editing.ts";
import { cursorColumn, moveByRow, type Direction } from "./vertical.ts";

/** Longer pastes are folded. */
const MAX_PASTE_LINES = 10;
const MAX_PASTE_CHARACTERS = 1000;

export class DraftState {
  readonly editing: TextEditing = new TextEditing();
  readonly #chips = new Chips();
  readonly #images: PendingImages;
  readonly #widths = new Map<string, number>();
  /** The column to which Up and Down return after shorter rows. */
  #goal: number | undefined;

  constructor(images: PendingImages) {
    this.#images = images;
  }

  get buffer(): TextBuffer {
    return this.editing.buffer;
  }

  /** The text in which one character stands for a paste or an image. */
  get text(): string {
    return this.buffer.text;
  }

  get parts(): DraftPart[] {
    return this.#chips.partsOf(this.text);
  }

  page(width: number, text: string = this.text): Page {
    return { text, width, widths: this.#widths, label: (char) => this.#chips.label(char) };
  }

  /** Replaces everything, as one edit. The text is one that this draft had, or has no pastes. */
  replaceText(text: string): void {
    this.endSequence();
    this.buffer.replace(0, this.text.length, text);
  }

  replaceParts(parts: readonly DraftPart[]): void {
    this.#images.forget();
    this.replaceText(
      this.#chips.textOf(
        parts.map((part) => (part.type === "imagePath" ? { type: "text", text: part.path } : part)),
      ),
    );
    for (const part of parts) if (part.type === "imagePath") this.#readImage(part.path);
  }

  type(text: string): void {
    this.#goal = undefined;
    this.editing.insert(cleanText(text));
  }

  /** Folds a long paste. The path of an image file becomes the image as soon as it is read. */
  paste(pasted: string): void {
    const text = cleanText(pasted);
    const isLong = text.length > MAX_PASTE_CHARACTERS || lineCount(text) > MAX_PASTE_LINES;
    const paths = this.#images.canRead ? pastedImagePaths(text) : undefined;
    this.#goal = undefined;
    if (paths === undefined) {
      const char = isLong ? this.#chips.add({ type: "paste", text }) : undefined;
      this.editing.insertWhole(char ?? text);
      return;
    }
    this.editing.insertWhole(paths.join(" "));
    for (const path of paths) this.#readImage(path);
  }

  pasteFromClipboard(): void {
    this.endSequence();
    this.#images.readClipboard((image) => {
      const char = this.#chips.add({ type: "image", image });
      if (char !== undefined) this.editing.insertWhole(char);
    });
  }

  /** Returns the folded paste before or at the cursor. */
  pasteAtCursor(): { readonly title: string; readonly text: string } | undefined {
    const { text, cursor } = this.buffer;
    const chips = [text.charAt(cursor - 1), text.charAt(cursor)].map((char) =>
      this.#chips.get(char),
    );
    const part = chips.find((chip) => chip?.type === "paste");
    return part?.type === "paste" ? { title: labelOf(part), text: part.text } : undefined;
  }

  /** Returns false if the cursor is in the first or last row. */
  moveByRows(width: number, direction: Direction, count: number): boolean {
    const page = this.page(width);
    const start = this.buffer.cursor;
    const goal = this.#goal ?? cursorColumn(page, start);
    this.editing.endSequence();
    for (let row = 0; row < count; row++) {
      const cursor = moveByRow(page, this.buffer.cursor, goal, direction);
      if (cursor === undefined) break;
      this.buffer.moveTo(cursor);
    }
    this.#goal = goal;
    return this.buffer.cursor !== start;
  }

  /** Puts the cursor where Up goes on to the history. */
  moveToFirstRow(width: number): void {
    const page = this.page(width);
    const [first, second] = rowsOf(page, 0);
    if (first === undefined) return;
    const end = second === undefined ? first.end.index : cursorAt(page, first, width, true);
    this.buffer.moveTo(end);
  }

  /** Ends a sequence of kills, and of Up and Down. */
  endSequence(): void {
    this.#goal = undefined;
    this.editing.endSequence();
  }

  perform(command: TextCommand): undefined {
    this.#goal = undefined;
    this.editing.perform(command);
  }

  /** Returns the draft and begins a new one. What was killed can still be yanked. */
  take(): Draft {
    const draft = draftOf(this.parts);
    this.#images.forget();
    this.endSequence();
    this.buffer.reset();
    this.#chips.keepThoseIn(this.editing.kills.texts);
    return draft;
  }

  #readImage(path: string): void {
    this.#images.readFile(path, (image) => this.#putImage(path, image));
  }

  /** Replaces the path, unless it was changed meanwhile. The cursor stays at its place. */
  #putImage(path: string, image: DraftImage): void {
    const { text, cursor } = this.buffer;
    const start = text.indexOf(path);
    const char = start === -1 ? undefined : this.#chips.add({ type: "image", image });
    if (char === undefined) return;
    this.endSequence();
    this.buffer.replace(start, start + path.length, char);
    const shift = cursor >= start + path.length ? path.length - 1 : Math.max(0, cursor - start);
    this.buffer.moveTo(cursor < start ? cursor : cursor - shift);
  }
}
