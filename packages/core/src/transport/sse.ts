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

export interface SseReader {
  /** Lines that were no field of an event stream, joined: what the body was instead, up to 8 Mi units. */
  readonly stray: string;
  push(chunk: Uint8Array): void;
  /** The end of the body: the last line and the last event need no terminator. */
  end(): void;
}

export function createSseReader(
  listener: SseListener,
  { maxEventLength = DEFAULT_MAX_EVENT_LENGTH }: SseOptions = {},
): SseReader {
  // Node's own removal of the BOM takes two when the first is cut by a chunk boundary.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let begun = false;
  let tail = "";
  let afterCarriageReturn = false;
  let data: string | undefined;
  let name = "";
  let stray = "";
  return {
    get stray() {
      return stray;
    },
    push: (chunk) => feed(decoder.decode(chunk, { stream: true })),
    end() {
      feed(decoder.decode());
      if (tail !== "") readLine(tail);
      tail = "";
      dispatch();
    },
  };

  function feed(text: string): void {
    let start = 0;
    if (!begun && text !== "") {
      begun = true;
      if (text.startsWith("\ufeff")) start = 1; // one, at the start of the body (Q004)
    }
    if (afterCarriageReturn && text !== "") {
      // A CR ended its line at once; the LF of a CRLF cut by a chunk boundary belongs to it (Q002).
      if (text.charCodeAt(0) === 10) start = 1;
      afterCarriageReturn = false;
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
          afterCarriageReturn = end + 1 === text.length;
        }
      }
      if (end === -1) break;
      const line = tail + text.slice(start, end);
      tail = "";
      readLine(line);
      start = next;
    }
    if (start < text.length) {
      tail += text.slice(start);
      guard(tail.length);
    }
  }

  function readLine(line: string): void {
    if (line === "") return dispatch();
    if (line.startsWith("data:")) return addData(line.slice(line.charCodeAt(5) === 32 ? 6 : 5)); // nearly always
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: liveness only (Q006)
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field === "event") name = line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    else if (!/^(?:id|retry|data)$/.test(field) && stray.length < STRAY_LIMIT) stray += `${line}\n`;
  }

  function addData(more: string): void {
    if (data !== undefined) guard(data.length + more.length);
    data = data === undefined ? more : `${data}\n${more}`;
  }

  function dispatch(): void {
    const complete = data;
    const from = name;
    data = undefined;
    name = "";
    if (complete) listener(complete, from);
  }

  function guard(length: number): void {
    if (length <= maxEventLength) return;
    throw new BowlineError("stream_corrupt", `One event of the stream is longer than ${maxEventLength} characters.`);
  }
}
