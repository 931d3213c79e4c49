/** Reads the inside of a JSON string that arrives in fragments, cut anywhere. */

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
export class StringReader {
  /** Whether raw control characters and invalid escapes are taken literally. */
  readonly #isLenient: boolean;
  /** Matches characters that stand for themselves. */
  readonly #plain = /[^"\\\u0000-\u001f]+/y;
  #piece = "";
  /** An unfinished escape, from its backslash. */
  #escape = "";
  #isOver = false;
  #problem: string | undefined;

  constructor(isLenient: boolean) {
    this.#isLenient = isLenient;
  }

  /** Whether the closing quote was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Begins the next string, after its opening quote. */
  begin(): void {
    this.#piece = this.#escape = "";
    this.#isOver = false;
  }

  /** Reads from `at` to the end of the string or the fragment. Returns where it stopped. */
  read(text: string, at: number): number {
    let next = at;
    while (next < text.length && !this.#isOver && this.#problem === undefined) {
      if (this.#escape !== "") {
        next = this.#readEscape(text.charAt(next)) ? next + 1 : next;
        continue;
      }
      this.#plain.lastIndex = next;
      const [run = ""] = this.#plain.exec(text) ?? [];
      this.#piece += run;
      next += run.length;
      if (next < text.length) this.#readMark(text.charAt(next++));
    }
    return next;
  }

  /**
   * Returns what was read since the last call. Holds back the first half of a surrogate pair until
   * the character after it is known.
   */
  take(): string {
    const piece = this.#piece;
    const isHalf = !this.#isOver && (piece.charCodeAt(piece.length - 1) & 0xfc00) === 0xd800;
    this.#piece = isHalf ? piece.slice(-1) : "";
    return isHalf ? piece.slice(0, -1) : piece;
  }

  #readMark(mark: string): void {
    if (mark === '"') this.#isOver = true;
    else if (mark === "\\") this.#escape = mark;
    else if (this.#isLenient) this.#piece += mark;
    else this.#problem = "A string of the JSON has a raw control character.";
  }

  /** Reads a character of an escape. Returns false if it is not part of it. */
  #readEscape(mark: string): boolean {
    const before = this.#escape;
    const known = before === "\\" ? escapes[mark] : undefined;
    if (known !== undefined) {
      this.#piece += known;
      this.#escape = "";
      return true;
    }
    if (before === "\\" ? mark === "u" : /[\da-fA-F]/.test(mark)) {
      const digits = (before + mark).slice(2);
      this.#escape = digits.length === 4 ? "" : before + mark;
      if (digits.length === 4) this.#piece += String.fromCharCode(Number.parseInt(digits, 16));
      return true;
    }
    if (!this.#isLenient) this.#problem = "A string of the JSON has an invalid escape.";
    this.#piece += before;
    this.#escape = "";
    return false;
  }
}
