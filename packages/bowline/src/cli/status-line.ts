/**
 * Lines that tell how it goes: each text takes the place of the one before. On a terminal only,
 * where a cursor can go back.
 */
import { oneLine, type Output } from "../terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const CLEAR_ROW = "\r\u001b[2K";
const CLEAR_ROW_ABOVE = "\u001b[1A\u001b[2K";

export class StatusLine {
  readonly #output: Output;
  /** Whether it is shown at all. */
  readonly isOn: boolean;
  /** Rows that are shown. */
  #rows = 0;

  constructor(output: Output, env: Environment) {
    this.#output = output;
    this.isOn = output.isTTY === true && env.TERM !== "dumb";
  }

  /** One row for each line, cut to the width: what went on in another row would stay. */
  show(text: string, paint: (text: string) => string = (plain) => plain): void {
    if (!this.isOn) return;
    const columns = this.#output.columns || 80; // some say 0
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

/** Cut to `columns`, of which a letter that may be wide takes two. */
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
