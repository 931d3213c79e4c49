/**
 * Server-sent events from bytes, synchronously: no socket, no promise, no clock. Follows the WHATWG rules except at the end of
 * the body, where a pending event is delivered without its blank line (Q013); whether the answer is complete is for the decoder
 * to say. Cost is linear in the bytes, however they are cut.
 */
import { BowlineError } from "../errors.ts";

/** Called for each event with data. `name` is the `event:` field or "". */
export type SseListener = (data: string, name: string) => void;

export interface SseOptions {
  /** The longest event in UTF-16 units (Q029). Default 64 Mi. */
  readonly maxEventLength?: number;
}

const DEFAULT_MAX_EVENT_LENGTH = 64 * 1024 * 1024;
/** How much of a body that is no event stream is kept to explain what it was. */
const STRAY_LIMIT = 8 * 1024 * 1024;

export class SseReader {
  readonly #listener: SseListener;
  readonly #maxEventLength: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: false }); // drops one leading BOM (Q004)
  #tail = "";
  #afterCarriageReturn = false;
  #data: string | undefined;
  #name = "";
  #stray = "";

  constructor(listener: SseListener, options: SseOptions = {}) {
    this.#listener = listener;
    this.#maxEventLength = options.maxEventLength ?? DEFAULT_MAX_EVENT_LENGTH;
  }

  /** Lines that were no field of an event stream, joined: what the body was instead, up to 8 Mi units. */
  get stray(): string {
    return this.#stray;
  }

  push(chunk: Uint8Array): void {
    this.#feed(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The end of the body: the last line and the last event need no terminator. */
  end(): void {
    this.#feed(this.#decoder.decode());
    if (this.#tail !== "") this.#line(this.#tail);
    this.#tail = "";
    this.#dispatch();
  }

  #feed(text: string): void {
    let start = 0;
    if (this.#afterCarriageReturn && text !== "") {
      // A CR ended its line at once; the LF of a CRLF cut by a chunk boundary belongs to it (Q002).
      if (text.charCodeAt(0) === 10) start = 1;
      this.#afterCarriageReturn = false;
    }
    const hasCarriageReturn = text.includes("\r", start);
    for (;;) {
      let end = text.indexOf("\n", start);
      let next = end + 1;
      if (hasCarriageReturn) {
        const carriageReturn = text.indexOf("\r", start);
        if (carriageReturn !== -1 && (end === -1 || carriageReturn < end)) {
          end = carriageReturn;
          next = text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
          this.#afterCarriageReturn = end + 1 === text.length;
        }
      }
      if (end === -1) break;
      const line = text.slice(start, end);
      if (this.#tail === "") this.#line(line);
      else {
        const whole = this.#tail + line;
        this.#tail = "";
        this.#line(whole);
      }
      start = next;
    }
    if (start < text.length) {
      this.#tail += start === 0 ? text : text.slice(start);
      this.#guard(this.#tail.length);
    }
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    if (line.startsWith("data:")) {
      const data = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      if (this.#data === undefined) this.#data = data;
      else {
        this.#guard(this.#data.length + data.length);
        this.#data += `\n${data}`;
      }
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: liveness only (Q006)
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field === "event") this.#name = line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    else if (field !== "id" && field !== "retry" && field !== "data" && this.#stray.length < STRAY_LIMIT)
      this.#stray += `${line}\n`;
  }

  #dispatch(): void {
    const data = this.#data;
    const name = this.#name;
    this.#data = undefined;
    this.#name = "";
    if (data !== undefined && data !== "") this.#listener(data, name);
  }

  #guard(length: number): void {
    if (length <= this.#maxEventLength) return;
    throw new BowlineError(
      "stream_corrupt",
      `One event of the stream is longer than ${this.#maxEventLength} characters.`,
    );
  }
}
