/**
 * Parses server-sent events from bytes, synchronously: no socket, no promise, no clock. Follows the
 * WHATWG rules, except that a pending event at the end of the body is delivered without its blank
 * line. The decoder decides whether the answer is complete. Takes time linear in the bytes, however
 * they are chunked.
 */
// Q013
import { BowlineError } from "../errors.ts";

/** Receives each event that has data. */
export interface SseListener {
  /** `name` is the `event:` field, or "" if there is none. */
  event(data: string, name: string): void;
  /** Receives lines after the first event that are neither fields nor comments. */
  stray?(text: string): void;
}

export interface SseOptions {
  /**
   * The longest event, and the longest answer that is not a stream, in UTF-16 units. All events of
   * a stream together may have four times as much. A longer one fails with `stream_corrupt`.
   * Default 32 Mi: enough for an answer with a large image, and little enough for a small process.
   */
  // Q029
  readonly maxEventLength?: number | undefined;
}

const DEFAULT_MAX_EVENT_LENGTH = 32 * 1024 * 1024;
/**
 * Limits the data of all events, as a multiple of the longest event. About 400,000 token deltas
 * fit.
 */
const MAX_LENGTHS = 4;

/** How much text between events is buffered. No error message needs more. */
const MAX_STRAY_LENGTH = 64 * 1024;

const knownField = /^(?:data|event|id|retry)?(?::|$)/;
/** A field with any name is legal in a stream, unless the name reports a failure. */
const unknownField = /^(?!\w*(?:error|exception|fail|fatal|panic|traceback))[\w.-]*(?::|$)/i;

/** Calls the listener for each event as soon as its last byte is pushed. */
export class SseReader {
  readonly #listener: SseListener;
  readonly #maxEventLength: number;
  // Node's own BOM handling removes two BOMs if the first is split across chunks.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /**
   * A character to skip at the start of the next text: a BOM at the start of the body, or the
   * second half of a CRLF.
   */
  // Q004, Q002
  #skipped: string | undefined = "\ufeff";
  #tail = "";
  #data: string | undefined;
  #name = "";
  #stray = "";
  #isStream = false;
  #length = 0;

  constructor(
    listener: SseListener,
    { maxEventLength = DEFAULT_MAX_EVENT_LENGTH }: SseOptions = {},
  ) {
    this.#listener = listener;
    this.#maxEventLength = maxEventLength;
  }

  /**
   * The lines before the first event that are not SSE fields, joined. Shows what the body was if it
   * was not a stream.
   */
  get stray(): string {
    return this.#stray;
  }

  push(chunk: Uint8Array): void {
    // Node decodes faster without streaming, which is needed only if a chunk ends within a
    // character.
    const isWhole = chunk.length > 0 && (chunk.at(-1) as number) < 128;
    this.#feed(this.#decoder.decode(chunk, { stream: !isWhole }));
  }

  /** Ends the body. The last line and the last event need no terminator. */
  end(): void {
    this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): void {
    if (text === "") return;
    let start = text[0] === this.#skipped ? 1 : 0;
    this.#skipped = undefined;
    let lineFeed = text.indexOf("\n", start);
    let carriageReturn = text.indexOf("\r", start);
    while (lineFeed !== carriageReturn) {
      const isReturn = lineFeed === -1 || (carriageReturn !== -1 && carriageReturn < lineFeed);
      const end = isReturn ? carriageReturn : lineFeed;
      if (this.#tail === "") this.#readLine(text, start, end);
      else {
        const line = this.#tail + text.slice(start, end);
        this.#tail = "";
        this.#readLine(line, 0, line.length);
      }
      start = end + 1;
      if (isReturn) {
        if (lineFeed === start) start++;
        else if (start === text.length) this.#skipped = "\n";
      }
      // Each line ending is searched once, since a body may use only one kind. The next line is
      // often empty.
      if (lineFeed !== -1 && lineFeed < start)
        lineFeed = text.startsWith("\n", start) ? start : text.indexOf("\n", start);
      if (carriageReturn !== -1 && carriageReturn < start)
        carriageReturn = text.indexOf("\r", start);
    }
    if (start < text.length) {
      this.#tail += text.slice(start);
      this.#bound(this.#tail.length);
    }
  }

  /** Handles one line. Lines that are neither fields nor comments are collected as stray. */
  // Q006
  #readLine(text: string, start: number, end: number): void {
    if (start === end) this.#dispatch();
    // Compared in pieces of three letters, which V8 does without a call. This saves a fiftieth of
    // the decoding time.
    else if (text.startsWith("dat", start) && text.startsWith("a:", start + 3)) {
      const more = valueAt(text, start + 5, end);
      this.#data = this.#data === undefined ? more : `${this.#data}\n${more}`;
      this.#bound(this.#data.length);
    } else if (text.startsWith("eve", start) && text.startsWith("nt:", start + 3))
      this.#name = valueAt(text, start + 6, end);
    // llama.cpp up to late 2025 reported errors in an `error` field, such as a conversation that is
    // too long.
    else if (text.startsWith("error: {", start)) this.#data = text.slice(start + 7, end);
    else {
      const line = text.slice(start, end);
      if ((this.#isStream ? unknownField : knownField).test(line)) return;
      if (this.#isStream && this.#stray.length > MAX_STRAY_LENGTH) return;
      this.#stray += `${line}\n`;
      if (!this.#isStream) this.#bound(this.#stray.length);
    }
  }

  #dispatch(): void {
    if (this.#isStream && this.#stray !== "") this.#reportStray();
    const data = this.#data;
    const name = this.#name;
    this.#data = undefined;
    this.#name = "";
    if (!data) return;
    this.#bound((this.#length += data.length), MAX_LENGTHS * this.#maxEventLength);
    this.#listener.event(data, name);
    this.#stray = "";
    this.#isStream = true;
  }

  #reportStray(): void {
    const stray = this.#stray;
    this.#stray = "";
    this.#listener.stray?.(stray);
  }

  #bound(length: number, most = this.#maxEventLength): void {
    if (length > most)
      throw new BowlineError("stream_corrupt", `The server sent more than ${most} characters.`);
  }
}

/** Returns the value of a field without the single space that may precede it. */
function valueAt(text: string, start: number, end: number): string {
  return text.slice(text.startsWith(" ", start) ? start + 1 : start, end);
}

/** Returns whether a line is an unknown field, which event streams may contain. */
// Q006
export function isUnknownField(line: string): boolean {
  return unknownField.test(line);
}
