/** Output on its way to whoever watches: collected and handed on a few times a second, each update only what is new. */
import { escapeControls, isBinary } from "./output-text.ts";

const EVERY_MS = 100;
/** Of a flood only the end is shown; the result has its own limit. */
const MAX_CHARACTERS = 4_000;

export class Ticker {
  readonly #send: (text: string) => void;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  add(text: string): void {
    if (text === "") return;
    this.#pending += text;
    if (this.#pending.length > 4 * MAX_CHARACTERS) this.#pending = this.#pending.slice(-MAX_CHARACTERS - 1);
    this.#timer ??= setTimeout(() => this.#flush(), EVERY_MS);
  }

  /** Hands on the rest. Nothing is sent afterwards. */
  stop(): void {
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text === "") return;
    if (isBinary(text)) this.#send("[binary output is not shown]\n");
    else this.#send(escapeControls(text.length > MAX_CHARACTERS ? `[…]\n${lastOf(text)}` : text));
  }
}

/** The end of a text; no character is cut in half. */
function lastOf(text: string): string {
  return text.slice(-MAX_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, "");
}
