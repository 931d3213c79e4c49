/**
 * Server-sent events from bytes, synchronously: no socket, no promise, no clock. Follows the WHATWG
 * rules except at the end of the body, where a pending event is delivered without its blank line; whether the answer is complete is for the decoder to say. Cost is linear in the bytes,
 * however they are cut.
 */
// Q013
import { BowlineError } from "../errors.ts";

/** Receives each event that has data. */
export interface SseListener {
  /** `name` is the `event:` field or "". */
  event(data: string, name: string): void;
  /** Lines after the first event that are neither fields nor comments. */
  stray?(text: string): void;
}

export interface SseOptions {
  /**
   * The longest event, and the longest answer that is no stream, in UTF-16 units; a stream may have
   * four times as much in all its events. What is longer is `stream_corrupt`. Default 32 Mi: an
   * answer with a large image in it, and no more than a small process can hold.
   */
  // Q029
  readonly maxEventLength?: number | undefined;
}

const DEFAULT_MAX_EVENT_LENGTH = 32 * 1024 * 1024;
/**
 * The data of all events, in lengths of the longest: some 400,000 deltas of a token have as much.
 */
const MAX_LENGTHS = 4;

/** How much is kept of what stands between events: more than an error takes. */
const MAX_STRAY_LENGTH = 64 * 1024;

const knownField = /^(?:data|event|id|retry)?(?::|$)/;
/** A field of any name, as a stream may have, unless the name says that it reports a failure. */
const unknownField = /^(?!\w*(?:error|exception|fail|fatal|panic|traceback))[\w.-]*(?::|$)/i;

/** Calls the listener for each event, as soon as its last byte was pushed. */
export class SseReader {
  readonly #listener: SseListener;
  readonly #maxEventLength: number;
  // Node's own removal of the BOM takes two when the first is cut by a chunk boundary.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /**
   * What is left out at the start of the next text: a BOM at the start of the body, the rest
   * of a CRLF.
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

  /** Lines before the first event that were no field of one, joined: what the body was instead. */
  get stray(): string {
    return this.#stray;
  }

  push(chunk: Uint8Array): void {
    // Node decodes faster when nothing is kept back for the next chunk: only one that ends within a
    // character needs that.
    const isWhole = chunk.length > 0 && (chunk.at(-1) as number) < 128;
    this.#feed(this.#decoder.decode(chunk, { stream: !isWhole }));
  }

  /** The end of the body: the last line and the last event need no terminator. */
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
      // Each end is looked for once: a body may have but one kind of them. The next line is often
      // empty.
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

  /** One line of the text. What is no field and no comment is kept as stray. */
  // Q006
  #readLine(text: string, start: number, end: number): void {
    if (start === end) this.#dispatch();
    // In pieces of three letters, which V8 compares without a call: a fiftieth of the whole time of
    // decoding.
    else if (text.startsWith("dat", start) && text.startsWith("a:", start + 3)) {
      const more = valueAt(text, start + 5, end);
      this.#data = this.#data === undefined ? more : `${this.#data}\n${more}`;
      this.#bound(this.#data.length);
    } else if (text.startsWith("eve", start) && text.startsWith("nt:", start + 3))
      this.#name = valueAt(text, start + 6, end);
    // llama.cpp up to late 2025 had a field for errors: of a conversation that is too long, for
    // one.
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
    if (!this.#isStream) this.#stray = "";
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

/** The value of a field, without the one space that may stand before it. */
function valueAt(text: string, start: number, end: number): string {
  return text.slice(text.startsWith(" ", start) ? start + 1 : start, end);
}

/** Whether a line is a field that nobody reads, which event streams may have. */
// Q006
export function isUnknownField(line: string): boolean {
  return unknownField.test(line);
}
