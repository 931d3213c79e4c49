/**
 * Output on its way to whoever watches: a few times a second, each update all so far, of which only
 * the end is kept.
 */
import { escapeControls, isBinary } from "./output-text.ts";

const EVERY_MS = 100;
/** Of much only the end is shown; the result has its own limit. */
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
    // With more than is shown, so that what was left out can be told.
    if (this.#text.length > 4 * MAX_CHARACTERS) this.#text = this.#text.slice(-MAX_CHARACTERS - 1);
    this.#timer ??= setTimeout(() => this.#flush(), EVERY_MS);
  }

  /** Hands on the rest. Nothing is sent afterwards. */
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
 * The end of a text, from a line's beginning where it has one: half a key could be shown that is
 * redacted as a whole.
 */
function lastOf(text: string): string {
  const last = text.slice(-MAX_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, "");
  const isWhole = text.at(-last.length - 1) === "\n";
  return (isWhole ? "" : last.slice(last.indexOf("\n") + 1)) || last;
}
