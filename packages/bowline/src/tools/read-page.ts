/**
 * Reads some lines of a file in constant memory. Streams the file and keeps only the requested
 * lines.
 */
import type { FileHandle } from "node:fs/promises";
import { stopIfAborted } from "./tool-error.ts";

export interface PageOptions {
  /** The first line to return, from 1. */
  readonly offset: number;
  /** The maximum number of lines. */
  readonly limit: number;
  /** Prefix each line with its number and a tab, which count towards `maxBytes`. */
  readonly lineNumbers: boolean;
  /**
   * The maximum number of bytes. A line that does not fit is omitted; only the first line is cut
   * instead.
   */
  readonly maxBytes: number;
  /** Read to the end to count all lines, or stop when the page is full. */
  readonly countAll: boolean;
  /** Stop reading at this offset, in bytes. A growing file, such as a log, might have no end. */
  readonly end: number;
  readonly signal: AbortSignal;
}

export interface Page {
  readonly bytes: Buffer;
  /** The last line in the page; `offset - 1` if the page is empty. */
  readonly last: number;
  /** Number of lines in the file; undefined if reading stopped before the end. */
  readonly total: number | undefined;
  /** True if the only line is longer than `maxBytes`. */
  readonly isLineCut: boolean;
}

const CHUNK = 256 * 1024;

/** Reads one page. O(bytes up to its end), or O(file) with `countAll`. */
export async function readPage(handle: FileHandle, options: PageOptions): Promise<Page> {
  const { offset, countAll, end: fileEnd, signal } = options;
  const page = new PageBuilder(options);
  const buffer = Buffer.allocUnsafe(CHUNK);
  let line = 1;
  let isLineOpen = false;
  for (let position = 0; ;) {
    stopIfAborted(signal);
    const { bytesRead } = await handle.read(
      buffer,
      0,
      Math.min(CHUNK, fileEnd - position),
      position,
    );
    if (bytesRead === 0) break;
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let start = 0; start < bytesRead;) {
      if (page.isFull(line) && !countAll) return page.build(undefined);
      const newline = chunk.indexOf(10, start);
      isLineOpen = newline === -1;
      const end = isLineOpen ? bytesRead : newline + 1;
      if (line >= offset && !page.isFull(line)) page.add(chunk.subarray(start, end), line);
      if (!isLineOpen) page.endLine(line++);
      start = end;
    }
  }
  if (isLineOpen) page.endLine(line);
  return page.build(isLineOpen ? line : line - 1);
}

class PageBuilder {
  readonly #options: PageOptions;
  readonly #lines: Buffer[] = [];
  /** The pieces of the current line. */
  #open: Buffer[] = [];
  #bytes = 0;
  #last: number;
  #isOutOfBytes = false;
  #isLineCut = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#last = options.offset - 1;
  }

  isFull(line: number): boolean {
    return this.#isOutOfBytes || line >= this.#options.offset + this.#options.limit;
  }

  /** Adds a copy of a piece of a line, because the caller reuses its buffer. */
  add(piece: Buffer, line: number): void {
    const { maxBytes, lineNumbers } = this.#options;
    if (lineNumbers && this.#open.length === 0) this.#bytes += `${line}\t`.length;
    const room = Math.max(0, maxBytes - this.#bytes);
    if (piece.length > room) {
      this.#isOutOfBytes = true;
      this.#isLineCut = line === this.#options.offset;
      if (!this.#isLineCut) return void (this.#open = []);
    }
    this.#open.push(Buffer.from(piece.subarray(0, room)));
    this.#bytes += Math.min(piece.length, room);
    if (this.#isLineCut) this.endLine(line);
  }

  endLine(line: number): void {
    if (this.#open.length === 0) return;
    this.#lines.push(...this.#open);
    this.#open = [];
    this.#last = line;
  }

  build(total: number | undefined): Page {
    return {
      bytes: Buffer.concat(this.#lines),
      last: this.#last,
      total,
      isLineCut: this.#isLineCut,
    };
  }
}
