/**
 * Sends a command's output to observers a few times per second. Each update replaces the previous
 * one and contains the end of the output so far.
 */
import { escapeControls, isBinary } from "./output-text.ts";

const EVERY_MS = 100;
/** Longest update; the result has its own limit. */
const MAX_CHARACTERS = 4_000;

export class Ticker {
  readonly #send: (text: string) => void;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  add(text: string): void {
    if (text === "") return;
    this.#text += text;
    // Keep one character more than is shown, so that the cut is detected.
    if (this.#text.length > 4 * MAX_CHARACTERS) this.#text = this.#text.slice(-MAX_CHARACTERS - 1);
    this.#timer ??= setTimeout(() => this.#flush(), EVERY_MS);
  }

  /** Sends the rest. Nothing is sent afterwards. */
  stop(): void {
    if (this.#timer !== undefined) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    if (isBinary(text)) this.#send("[binary output is not shown]\n");
    else this.#send(escapeControls(text.length > MAX_CHARACTERS ? `[…]\n${lastOf(text)}` : text));
  }
}

/**
 * Returns the end of a text, starting at a line if possible: a secret cut in half would not be
 * redacted.
 */
function lastOf(text: string): string {
  const last = text.slice(-MAX_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, "");
  const isWhole = text.at(-last.length - 1) === "\n";
  return (isWhole ? "" : last.slice(last.indexOf("\n") + 1)) || last;
}
