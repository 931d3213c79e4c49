/** Shows long text on the alternate screen, with search. */
import { printable } from "../terminal.ts";
import type { Input, Key } from "./keys.ts";
import type { FullView, Live, PlainView, Screen } from "./live.ts";
import { fitParts } from "./status-row.ts";
import { breakAtWidth, plainText, textWidth } from "./width.ts";

/** Shows lines until the person leaves with q or Esc. A plain screen prints them. */
export async function page(screen: Screen, title: string, lines: readonly string[]): Promise<void> {
  await screen.full(new Pager(title, lines));
}

class Pager implements FullView<true> {
  readonly plain: PlainView<true>;
  readonly #title: string;
  readonly #lines: readonly string[];
  #columns = 0;
  /** Not wrapped until the first drawing: keys may come before it. */
  #rows: readonly PagerRow[];
  #top = 0;
  #height = 1;
  /** What is typed after a slash, undefined if no search is being typed. */
  #typed: string | undefined;
  #search = "";
  #notice = "";

  constructor(title: string, lines: readonly string[]) {
    this.#title = title;
    this.#lines = lines;
    this.#rows = lines.map((text, line) => ({ text, line }));
    this.plain = { type: "text", lines: [title, ...lines], result: true };
  }

  draw(columns: number, rows: number): Live {
    this.#wrap(columns);
    this.#height = Math.max(1, rows - 2);
    this.#move(0);
    const shown = this.#rows.slice(this.#top, this.#top + this.#height).map(({ text }) => text);
    while (shown.length < this.#height) shown.push("~");
    const foot = this.#typed === undefined ? this.#foot() : `/${this.#typed}`;
    const isTyping = this.#typed !== undefined;
    return {
      lines: [this.#title, ...shown, foot],
      ...(isTyping ? { cursor: { row: this.#height + 1, column: textWidth(foot) } } : {}),
    };
  }

  input(input: Input): { readonly result: true } | undefined {
    this.#notice = "";
    if (this.#typed !== undefined) return this.#type(this.#typed, input);
    if (input.type === "text") {
      const [first = "", ...others] = input.text;
      if (first === "q") return { result: true };
      this.#command(first);
      return others.length === 0 ? undefined : this.input({ type: "text", text: others.join("") });
    }
    return input.type === "key" ? this.#key(input) : undefined;
  }

  #key(pressed: Key): { readonly result: true } | undefined {
    const name = pressed.ctrl ? `ctrl-${pressed.name}` : pressed.name;
    if (name === "escape" || name === "ctrl-c") return { result: true };
    this.#move(this.#distance(name));
    return undefined;
  }

  #command(char: string): void {
    if (char === "/") this.#typed = "";
    else if (char === "n") this.#find(this.#top + 1, 1);
    else if (char === "N") this.#find(this.#top - 1, -1);
    else this.#move(this.#distance(char));
  }

  #distance(name: string): number {
    switch (name) {
      case "up":
      case "k":
        return -1;
      case "down":
      case "j":
      case "enter":
        return 1;
      case "pageUp":
      case "b":
      case "ctrl-b":
        return -this.#height;
      case "pageDown":
      case " ":
      case "f":
      case "ctrl-f":
        return this.#height;
      case "home":
      case "g":
        return -Infinity;
      case "end":
      case "G":
        return Infinity;
      default:
        return 0;
    }
  }

  #move(distance: number): void {
    const last = Math.max(0, this.#rows.length - this.#height);
    this.#top = Math.max(0, Math.min(this.#top + distance, last));
  }

  #type(typed: string, input: Input): undefined {
    if (input.type !== "key") {
      this.#typed = typed + printable(input.text).replaceAll("\n", " ");
    } else if (input.name === "backspace") {
      this.#typed = typed === "" ? undefined : Array.from(typed).slice(0, -1).join("");
    } else if (input.name === "escape" || (input.ctrl && input.name === "c")) {
      this.#typed = undefined;
    } else if (input.name === "enter") {
      this.#typed = undefined;
      this.#search = typed === "" ? this.#search : typed;
      this.#find(this.#top, 1);
    }
    return undefined;
  }

  /** Goes to the next row with the search text; upper case counts only if it was typed. */
  #find(from: number, step: 1 | -1): void {
    if (this.#search === "") return;
    const hasUpper = this.#search !== this.#search.toLowerCase();
    for (let row = from; row >= 0 && row < this.#rows.length; row += step) {
      const { line } = this.#rows[row] ?? { line: 0 };
      if (line === this.#rows[row - 1]?.line) continue; // only the first row of a line
      const text = plainText(this.#lines[line] ?? "");
      if (!(hasUpper ? text : text.toLowerCase()).includes(this.#search)) continue;
      this.#top = row;
      this.#notice = `line ${line + 1} has "${this.#search}"`;
      return;
    }
    this.#notice = `"${this.#search}" is not found ${step === 1 ? "below" : "above"}`;
  }

  #foot(): string {
    const last = Math.min(this.#rows.length, this.#top + this.#height);
    const from = (this.#rows[this.#top]?.line ?? -1) + 1;
    const to = (this.#rows[last - 1]?.line ?? -1) + 1;
    const parts = [
      { text: this.#notice, priority: 4 },
      { text: `lines ${from}-${to} of ${this.#lines.length}`, priority: 3 },
      { text: "q leaves", priority: 2 },
      { text: "space, b, g, G move", priority: 0 },
      { text: "/, n, N search", priority: 1 },
    ];
    return fitParts(parts, this.#columns);
  }

  /** Wraps the lines for a new width and keeps the first line in view. */
  #wrap(columns: number): void {
    if (columns === this.#columns) return;
    const line = this.#rows[this.#top]?.line ?? 0;
    this.#columns = columns;
    this.#rows = this.#lines.flatMap((text, i) => wrapped(text, i, columns));
    this.#top = Math.max(
      0,
      this.#rows.findIndex((row) => row.line === line),
    );
  }
}

interface PagerRow {
  readonly text: string;
  readonly line: number;
}

function wrapped(text: string, line: number, columns: number): PagerRow[] {
  const rows: PagerRow[] = [];
  let rest = text.replaceAll("\t", "    ");
  do {
    const [head, tail] = breakAtWidth(rest, columns);
    rows.push({ text: head, line });
    rest = tail;
  } while (rest !== "");
  return rows;
}
