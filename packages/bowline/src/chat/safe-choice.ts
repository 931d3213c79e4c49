/**
 * A list of choices beside a draft that somebody may be typing. No key of prose can choose: keys
 * count only after a pause without typing, and Enter only on a choice that an arrow or a digit
 * reached after that pause. The two must not come together, because a terminal may paste without
 * marks. The first choice has the focus at the beginning and must be harmless.
 */
import type { Colours } from "../screen/colours.ts";
import type { Input } from "../screen/input.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import { cutToWidth, textWidth } from "../screen/width.ts";

/** The pause without typing before keys can choose, in milliseconds. */
export const PAUSE_MS = 400;
/** Keys that come within this time were not pressed one after another, but pasted. */
const TOGETHER_MS = 20;

export type ChoiceResult =
  /** The key had its effect here. */
  | { readonly type: "used" }
  /** The key belongs to the draft, after `typed`, which was held back as a possible choice. */
  | { readonly type: "pass"; readonly typed: string }
  /** The index of the choice, and the keys that chose it. */
  | { readonly type: "chosen"; readonly index: number; readonly keys: string };

const used: ChoiceResult = { type: "used" };

/**
 * Draws choices as numbered rows; the focus has a mark before it. With too little room each choice
 * has one row, and those around the focus are shown.
 */
export function choiceRows(
  labels: readonly string[],
  focus: number,
  columns: number,
  { bold }: Pick<Colours, "bold">,
  maxRows: number = Infinity,
): string[] {
  const marked = labels.map((label, index) => {
    const mark = `${index === focus ? ">" : " "} ${index + 1} `;
    return wrapStyled(index === focus ? bold(label) : label, columns, { mark });
  });
  const rows = marked.flat();
  if (rows.length <= maxRows) return rows;
  const count = Math.max(1, maxRows);
  const first = Math.max(0, Math.min(focus - (count >> 1), labels.length - count));
  return marked.slice(first, first + count).map((all) => firstRow(all, columns));
}

/** Returns the first of some rows, with an ellipsis if there are more. */
export function firstRow([row = "", ...more]: readonly string[], columns: number): string {
  if (more.length === 0) return row;
  return `${textWidth(row) < columns ? row : cutToWidth(row, columns - 1)}…`;
}

export class SafeChoice {
  readonly #openedAt: number;
  #typedAt: number;
  #focus = 0;
  /** The keys that reached the focus. */
  #reached: string | undefined;
  #reachedAt = -Infinity;
  /** A digit that moved the focus. It is text if more text follows. */
  #held = "";

  constructor(now: number, typedAt: number) {
    this.#openedAt = now;
    this.#typedAt = typedAt;
  }

  get focus(): number {
    return this.#focus;
  }

  /** The milliseconds since the question appeared. */
  openFor(now: number): number {
    return now - this.#openedAt;
  }

  isReady(now: number): boolean {
    return now - Math.max(this.#openedAt, this.#typedAt) >= PAUSE_MS;
  }

  /** `hasDraft`: digits are then text, and Enter without a reached choice sends the draft. */
  input(input: Input, now: number, count: number, hasDraft: boolean): ChoiceResult {
    if (input.type === "text") return this.#text(input.text, now, count, hasDraft);
    if (input.type === "paste") return this.#pass(now);
    const isPlain = !input.ctrl && !input.alt && !input.shift;
    if (!isPlain) return { type: "pass", typed: this.#letGo() };
    const { name } = input;
    if (name === "up" || name === "down") {
      if (this.isReady(now)) this.#move(name === "up" ? -1 : 1, now, count);
      return used;
    }
    if (name === "enter") return this.#enter(now, hasDraft);
    return name === "escape" ? { type: "pass", typed: "" } : this.#pass(now);
  }

  #text(text: string, now: number, count: number, hasDraft: boolean): ChoiceResult {
    const index = /^[1-9]$/.test(text) ? Number(text) - 1 : -1;
    const isChoice = index >= 0 && index < count && !hasDraft && this.#held === "";
    if (!isChoice || !this.isReady(now)) return this.#pass(now);
    this.#focus = index;
    this.#reached = `key ${text}`;
    this.#reachedAt = now;
    this.#held = text;
    return used;
  }

  #enter(now: number, hasDraft: boolean): ChoiceResult {
    if (!this.isReady(now)) return hasDraft ? { type: "pass", typed: "" } : used;
    if (this.#reached === undefined && hasDraft) return { type: "pass", typed: "" };
    if (now - this.#reachedAt < TOGETHER_MS) return used;
    const keys = this.#reached === undefined ? "Enter" : `${this.#reached}, Enter`;
    this.#held = "";
    return { type: "chosen", index: this.#focus, keys };
  }

  #move(by: number, now: number, count: number): void {
    this.#focus = Math.max(0, Math.min(count - 1, this.#focus + by));
    this.#reached = "arrow";
    this.#reachedAt = now;
    this.#held = "";
  }

  /** Text goes to the draft, and the focus back to the harmless choice. */
  #pass(now: number): ChoiceResult {
    this.#typedAt = now;
    this.#focus = 0;
    this.#reached = undefined;
    return { type: "pass", typed: this.#letGo() };
  }

  #letGo(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}
