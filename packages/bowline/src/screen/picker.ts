/** A list from which a person takes one item, on the alternate screen or as numbered lines. */
import { oneLine } from "../terminal.ts";
import type { Input, Key } from "./keys.ts";
import type { FullView, Live, PlainView, Screen } from "./live.ts";
import { fitParts } from "./status-row.ts";
import { cutToWidth, textWidth } from "./width.ts";

interface PickerItem<T> {
  readonly label: string;
  readonly detail?: string;
  readonly value: T;
}

export interface PickerOptions<T> {
  readonly title: string;
  readonly items: readonly PickerItem<T>[];
  /** True if typed words narrow the list. */
  readonly filter: boolean;
}

/** Resolves with the value of the item, or with undefined if none was taken. */
export async function pickOne<T>(
  screen: Screen,
  options: PickerOptions<T>,
): Promise<T | undefined> {
  const taken = await screen.full(new Picker(options));
  return taken?.value;
}

type Taken<T> = { readonly value?: T };

class Picker<T> implements FullView<Taken<T>> {
  readonly #options: PickerOptions<T>;
  #typed = "";
  #place = 0;
  /** The number of items that the last drawing had room for. */
  #room = 10;

  constructor(options: PickerOptions<T>) {
    this.#options = options;
  }

  draw(columns: number, rows: number): Live {
    const { title, filter, items } = this.#options;
    const found = this.#found();
    const search = `Search: ${this.#typed}`;
    const head = filter ? [title, search, ""] : [title, ""];
    const help = [
      { text: `${found.length} of ${items.length}`, priority: 2 },
      { text: filter ? "type to search" : "digits or arrows move", priority: 1 },
      { text: "Enter takes", priority: 3 },
      { text: "Esc leaves", priority: 4 },
    ];
    const foot = ["", fitParts(help, columns)];
    this.#room = Math.max(1, rows - head.length - foot.length);
    const first = Math.max(0, Math.min(this.#place - (this.#room >> 1), found.length - this.#room));
    const shown = found.slice(first, first + this.#room);
    const width = shown.reduce((most, { label }) => Math.max(most, textWidth(label)), 0);
    const list = shown.map((item, i) => this.#row(item, first + i, columns, width));
    const cursor = filter
      ? { row: 1, column: textWidth(search) }
      : { row: head.length + this.#place - first, column: 0 };
    const none = found.length === 0 ? ["  (no match)"] : [];
    return { lines: [...head, ...list, ...none, ...foot], cursor };
  }

  input(input: Input): { readonly result: Taken<T> } | undefined {
    if (input.type === "key") return this.#key(input);
    if (this.#options.filter) {
      this.#typed += oneLine(input.text, 1000);
      this.#place = 0;
    } else if (/^[1-9]$/.test(input.text)) this.#move(Number(input.text) - 1 - this.#place);
    return undefined;
  }

  get plain(): PlainView<Taken<T>> {
    const { title, items } = this.#options;
    const numbered = items.map(({ label, detail }, i) => {
      const more = detail === undefined || detail === "" ? "" : ` - ${detail}`;
      return `${i + 1}. ${label}${more}`;
    });
    return {
      type: "question",
      lines: [title, ...numbered, "Type a number and Enter. Enter alone takes none."],
      answer: (line) => {
        const text = line.trim();
        if (text === "") return { result: {} };
        const item = /^\d+$/.test(text) ? items[Number(text) - 1] : undefined;
        if (item !== undefined) return { result: { value: item.value } };
        return { problem: `"${oneLine(text, 40)}" is no number from 1 to ${items.length}.` };
      },
    };
  }

  #key(pressed: Key): { readonly result: Taken<T> } | undefined {
    const name = pressed.ctrl ? `ctrl-${pressed.name}` : pressed.name;
    switch (name) {
      case "escape":
      case "ctrl-c":
      case "ctrl-d":
        return { result: {} };
      case "enter": {
        const item = this.#found()[this.#place];
        return item === undefined ? undefined : { result: { value: item.value } };
      }
      case "backspace":
        this.#typed = Array.from(this.#typed).slice(0, -1).join("");
        this.#place = 0;
        return undefined;
      case "ctrl-u":
        this.#typed = "";
        this.#place = 0;
        return undefined;
      default:
        this.#move(this.#distance(name));
        return undefined;
    }
  }

  #distance(name: string): number {
    switch (name) {
      case "up":
      case "ctrl-p":
        return -1;
      case "down":
      case "ctrl-n":
        return 1;
      case "pageUp":
        return -this.#room;
      case "pageDown":
        return this.#room;
      case "home":
        return -Infinity;
      case "end":
        return Infinity;
      default:
        return 0;
    }
  }

  #move(distance: number): void {
    this.#place = Math.max(0, Math.min(this.#place + distance, this.#found().length - 1));
  }

  /** The details stand below each other if all labels leave room for them. */
  #row(
    { label, detail = "" }: PickerItem<T>,
    place: number,
    columns: number,
    labelWidth: number,
  ): string {
    const mark = place === this.#place ? "> " : "  ";
    const number = this.#options.filter || place > 8 ? "" : `${place + 1}. `;
    const row = `${mark}${number}${label}`;
    if (textWidth(row) > columns) return `${cutToWidth(row, columns - 1)}…`;
    const hasRoom = detail !== "" && textWidth(row) + 2 + textWidth(detail) <= columns;
    if (!hasRoom) return row;
    const gap = Math.min(labelWidth - textWidth(label), columns - textWidth(`${row}  ${detail}`));
    return `${row}${" ".repeat(gap)}  ${detail}`;
  }

  /** The items that have each typed word, in upper or lower case. */
  #found(): readonly PickerItem<T>[] {
    const words = this.#typed.toLowerCase().split(/\s+/).filter(Boolean);
    return this.#options.items.filter(({ label, detail = "" }) => {
      const text = `${label} ${detail}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
}
