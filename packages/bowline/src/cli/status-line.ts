/**
 * A line that tells how it goes: each text takes the place of the one before. On a terminal only,
 * where a cursor can go back.
 */
import { oneLine, type Output } from "../terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export class StatusLine {
  readonly #output: Output;
  /** Whether it is shown at all. */
  readonly isOn: boolean;
  #isShown = false;

  constructor(output: Output, env: Environment) {
    this.#output = output;
    this.isOn = output.isTTY === true && env.TERM !== "dumb";
  }

  /** Cut to the width: what went on in a second row would stay. */
  show(text: string, paint: (text: string) => string = (plain) => plain): void {
    if (!this.isOn) return;
    const columns = this.#output.columns || 80; // some say 0
    this.#output.write(`\r\u001b[2K${paint(oneLine(text, columns - 1))}`);
    this.#isShown = true;
  }

  clear(): void {
    if (this.#isShown) this.#output.write("\r\u001b[2K");
    this.#isShown = false;
  }
}
