/**
 * Status lines on a terminal; each text replaces the previous one. Off where the cursor cannot
 * move.
 */
import { oneLine, type Output } from "../terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const CLEAR_ROW = "\r\u001b[2K";
const CLEAR_ROW_ABOVE = "\u001b[1A\u001b[2K";

export class StatusLine {
  readonly #output: Output;
  /** True if status lines are shown. */
  readonly isOn: boolean;
  /** Number of rows on the screen. */
  #rows = 0;

  constructor(output: Output, env: Environment) {
    this.#output = output;
    this.isOn = output.isTTY === true && env.TERM !== "dumb";
  }

  /** Shows one row per line, cut to the width: a wrapped row would not be cleared. */
  show(text: string, paint: (text: string) => string = (plain) => plain): void {
    if (!this.isOn) return;
    const columns = this.#output.columns || 80; // some terminals report 0
    const rows = text.split("\n").map((line) => paint(fitted(line, columns - 1)));
    this.#output.write(`${this.#clearing() || CLEAR_ROW}${rows.join("\n")}`);
    this.#rows = rows.length;
  }

  clear(): void {
    if (this.#rows > 0) this.#output.write(this.#clearing());
    this.#rows = 0;
  }

  #clearing(): string {
    return this.#rows === 0 ? "" : CLEAR_ROW + CLEAR_ROW_ABOVE.repeat(this.#rows - 1);
  }
}

/** Cuts a line to `columns`; a character that may be wide counts as two. */
function fitted(line: string, columns: number): string {
  const text = oneLine(line, columns);
  let width = 0;
  let end = 0;
  for (const letter of text) {
    width += /[\u1100-\uffff]|[^\u0000-\uffff]/u.test(letter) && letter !== "…" ? 2 : 1;
    if (width > columns) break;
    end += letter.length;
  }
  return text.slice(0, end);
}
