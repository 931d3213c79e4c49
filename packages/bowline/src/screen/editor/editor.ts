/**
 * The input of a conversation: a draft of several lines with its keys, history, search, completions
 * and folded pastes. The state changes by `input()`; `draw()` is a function of it.
 *
 * - Enter submits. A backslash before Enter, Ctrl-J, Shift-Enter and Ctrl-Enter begin a line.
 *   Alt-Enter queues.
 * - Arrows, Home, End, Ctrl-A and -E move, by word with Ctrl or Alt (Alt-B, Alt-F); Ctrl-Home and
 *   -End go to the ends. Up and Down go through the history at the first and last row.
 * - Ctrl-W, Ctrl-U, Ctrl-K, Alt-Backspace and Alt-D kill, Ctrl-Y yanks, then Alt-Y an older one.
 *   Ctrl-_ undoes. Ctrl-R searches the history.
 * - A long paste is folded. Ctrl-O at its label returns the text, to be shown. Ctrl-V takes an
 *   image from the clipboard; the pasted path of an image file becomes the image.
 */
import type { Input, Key } from "../keys.ts";
import { CompletionMenu } from "./completion-menu.ts";
import { draftOf, type Draft } from "./draft.ts";
import { drawDraft, PROMPT_COLUMNS, type DraftRows } from "./draft-rows.ts";
import { DraftState } from "./draft-state.ts";
import type { EditorOptions, EditorResult } from "./editor-options.ts";
import { joinDrafts } from "./join-drafts.ts";
import { HistorySearch } from "./history-search.ts";
import { HistoryWalk } from "./history-walk.ts";
import { commandOf, isTextCommand, type EditorCommand } from "./keymap.ts";
import { menuRows } from "./menu-rows.ts";
import { PendingImages } from "./pending-images.ts";
import { searchRow } from "./search-row.ts";
import type { Direction } from "./vertical.ts";
import { textWidth } from "../width.ts";

/** Narrower terminals get rows that are too wide. */
const MIN_COLUMNS = 16;
const MAX_MENU_ROWS = 8;
const MENU_PAGE = 6;

export class Editor {
  readonly #options: EditorOptions;
  readonly #state: DraftState;
  readonly #images: PendingImages;
  readonly #menu: CompletionMenu;
  readonly #walk = new HistoryWalk();
  #search: HistorySearch | undefined;
  #aside: Draft | undefined;
  /** The size of the last drawing: Up and Down go by its rows. */
  #columns = 80;
  #rows = 10;

  constructor(options: EditorOptions) {
    this.#options = options;
    this.#menu = new CompletionMenu(options.completions ?? [], () => options.onChange?.());
    this.#images = new PendingImages({
      port: options.images,
      onNotice: (notice) => options.onNotice?.(notice),
      onChange: () => {
        this.#follow();
        this.#save();
        options.onChange?.();
      },
    });
    this.#state = new DraftState(this.#images);
  }

  get isEmpty(): boolean {
    return this.#state.text === "";
  }

  /** True while Escape and Ctrl-C close a menu or the search, and nothing else. */
  get isMenuOpen(): boolean {
    return this.#search !== undefined || this.#menu.isOpen;
  }

  /** Returns the draft as it is shown, with labels for pastes and images. */
  text(): string {
    return this.draft().text;
  }

  draft(): Draft {
    return draftOf(this.#state.parts);
  }

  /** Replaces the draft. One undo brings the old one back. */
  set(draft: Draft | string): void {
    this.#search = undefined;
    this.#walk.end();
    this.#state.replaceParts(
      typeof draft === "string" ? [{ type: "text", text: draft }] : draft.parts,
    );
    this.#follow();
    this.#save();
  }

  /** A draft that waits while another text is edited. It is saved with it, after it. */
  get aside(): Draft | undefined {
    return this.#aside;
  }

  set aside(draft: Draft | undefined) {
    this.#aside = draft?.text === "" ? undefined : draft;
    this.#save();
  }

  /** Puts the draft into the history and empties the editor. */
  clear(): void {
    this.#options.history.add(this.#state.parts);
    this.set("");
  }

  /** Stops reading images. */
  close(): void {
    this.#images.forget();
  }

  /** Returns the meaning of the input, or undefined if the editor used it up. */
  input(input: Input): EditorResult | undefined {
    const { text } = this.#state;
    const result = this.#search === undefined ? this.#route(input) : this.#inSearch(input);
    this.#follow(input.type === "key" && input.name === "tab" && !input.shift);
    if (this.#state.text !== text) this.#save();
    return result;
  }

  /** Draws at most `maxRows` rows, the cursor's among them. */
  draw(columns: number, maxRows: number): DraftRows {
    this.#columns = Math.max(MIN_COLUMNS, columns);
    this.#rows = Math.max(1, maxRows);
    const below = this.#rowsBelow();
    const room = this.#rows - below.length;
    const found = this.#search?.found;
    const { lines, cursor } =
      found === undefined
        ? drawDraft(this.#state.page(this.#width), this.#state.buffer.cursor, room)
        : drawDraft(this.#state.page(this.#width, found.text), this.#search?.matchAt ?? 0, room);
    return { lines: [...lines, ...below], cursor };
  }

  /** The last column stays free for the cursor. */
  get #width(): number {
    return this.#columns - PROMPT_COLUMNS - 1;
  }

  #rowsBelow(): string[] {
    const colours = this.#options.colours ?? plainColours;
    const { text } = this.#state;
    const isShort = !text.includes("\n") && textWidth(text) < this.#width;
    const draftRows = Math.min(isShort ? 1 : 3, Math.ceil(this.#rows / 2));
    const maxRows = Math.min(MAX_MENU_ROWS, this.#rows - draftRows);
    if (maxRows === 0) return [];
    if (this.#search !== undefined) return [colours.dim(searchRow(this.#search, this.#columns))];
    if (!this.#menu.isOpen) return [];
    const size = { columns: this.#columns, maxRows, colours };
    return menuRows(this.#menu.found, this.#menu.selected, size);
  }

  #route(input: Input): EditorResult | undefined {
    switch (input.type) {
      case "text":
        this.#state.type(input.text);
        return undefined;
      case "paste":
        if (input.isCut) this.#options.onNotice?.("The paste was too long: its end is missing.");
        this.#state.paste(input.text);
        return undefined;
      case "key":
        return this.#key(input);
    }
  }

  #key(input: Key): EditorResult | undefined {
    const { name, ctrl, alt } = input;
    if (name === "space" && !ctrl && !alt) return this.#route({ type: "text", text: " " });
    if (ctrl && name === "c" && this.#menu.isOpen) return this.#menu.close();
    const command = commandOf(input);
    if (command === undefined || (ctrl && name === "d" && this.isEmpty))
      return { type: "unused", input };
    return this.#menu.isOpen && this.#inMenu(command) ? undefined : this.#perform(command, input);
  }

  /** Returns true if the key was for the menu. */
  #inMenu(command: EditorCommand): boolean {
    const steps: Partial<Record<EditorCommand, number>> = {
      up: -1,
      down: 1,
      pageUp: -MENU_PAGE,
      pageDown: MENU_PAGE,
    };
    const step = steps[command];
    if (step !== undefined) this.#menu.move(step);
    else if (command === "close") this.#menu.close();
    else if (command === "complete" || (command === "enter" && !this.#menu.isComplete))
      return this.#takeItem() || command === "complete";
    else return false;
    return true;
  }

  #takeItem(): boolean {
    const taken = this.#menu.take();
    if (taken === undefined) return false;
    const { buffer } = this.#state;
    this.#state.endSequence();
    buffer.replace(taken.start, buffer.cursor, taken.text);
    return true;
  }

  #perform(command: EditorCommand, input: Key): EditorResult | undefined {
    if (isTextCommand(command)) return this.#state.perform(command);
    const unused: EditorResult = { type: "unused", input };
    switch (command) {
      case "enter":
        return this.#beginLine() ? undefined : this.#finish("submit", input);
      case "queue":
        return this.#finish("queue", input);
      case "up":
      case "down":
        if (!this.#state.moveByRows(this.#width, command, 1)) this.#walkHistory(command);
        return undefined;
      case "pageUp":
        return this.#state.moveByRows(this.#width, "up", this.#rows) ? undefined : unused;
      case "pageDown":
        return this.#state.moveByRows(this.#width, "down", this.#rows) ? undefined : unused;
      case "search":
        this.#state.endSequence();
        this.#search = new HistorySearch(this.#options.history.entries());
        return undefined;
      case "view": {
        const paste = this.#state.pasteAtCursor();
        return paste === undefined ? unused : { type: "view", ...paste };
      }
      case "clipboard":
        this.#state.pasteFromClipboard();
        return undefined;
      case "complete":
      case "close":
        return unused;
    }
  }

  /** A backslash before Enter begins a line. Returns false if there is none. */
  #beginLine(): boolean {
    const { text, cursor } = this.#state.buffer;
    if (text[cursor - 1] !== "\\") return false;
    this.#state.endSequence();
    this.#state.buffer.replace(cursor - 1, cursor, "\n");
    return true;
  }

  #finish(type: "submit" | "queue", input: Key): EditorResult {
    if (this.#state.text.trim() === "") return { type: "unused", input };
    const draft = this.#state.take();
    this.#walk.end();
    this.#options.history.add(draft.parts);
    return { type, draft };
  }

  #walkHistory(direction: Direction): void {
    const { text } = this.#state;
    const step =
      direction === "up"
        ? this.#walk.older(text, () => this.#options.history.entries().map(({ parts }) => parts))
        : this.#walk.newer(text);
    if (step === undefined) return;
    if (step.type === "entry") this.#state.replaceParts(step.parts);
    else this.#state.replaceText(step.text);
    if (direction === "up") this.#state.moveToFirstRow(this.#width);
  }

  #inSearch(input: Input): EditorResult | undefined {
    const search = this.#search as HistorySearch;
    const step = search.input(input);
    if (step === "used") return undefined;
    this.#search = undefined;
    if (step === "cancel") return undefined;
    this.#walk.end();
    if (search.found !== undefined) this.#state.replaceParts(search.found.parts);
    return step === "take" ? undefined : this.#route(input);
  }

  /** Opens, changes or closes the menu for what is at the cursor. */
  #follow(isAsked = false): void {
    if (this.#search === undefined)
      this.#menu.update(this.#state.text, this.#state.buffer.cursor, isAsked);
  }

  #save(): void {
    this.#options.drafts?.changed(() => {
      const aside = this.#aside;
      return aside === undefined ? this.#state.parts : joinDrafts([this.draft(), aside]).parts;
    });
  }
}

const plainColours = { dim: (text: string) => text, bold: (text: string) => text };
