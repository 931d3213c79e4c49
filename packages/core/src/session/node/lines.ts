/**
 * Reads lines of a file in batches, forward or from the end. Memory and time are linear, also for
 * long lines.
 */
import type { ReadableFile } from "./file.ts";
import { NEWLINE } from "./record.ts";

/**
 * Size of the first read in bytes. It is small, because callers often need only a few lines. Each
 * further read is twice as large, up to `LARGEST_CHUNK`.
 */
const FIRST_CHUNK = 16 * 1024;
const LARGEST_CHUNK = 1024 * 1024;

export interface Line {
  /** Position in the file, in bytes. */
  readonly offset: number;
  /** Without its newline. */
  readonly bytes: Buffer;
}

/** Yields the complete lines between `start` and `end`. `start` must be the beginning of a line. */
export async function* linesForward(
  file: Pick<ReadableFile, "read">,
  start: number,
  end: number,
): AsyncGenerator<Line[]> {
  let begun: Buffer[] = []; // parts of a line whose end was not read yet
  let offset = start;
  let wanted = FIRST_CHUNK;
  for (let at = start; at < end; wanted = Math.min(wanted * 2, LARGEST_CHUNK)) {
    const chunk = await readAt(file, at, Math.min(wanted, end - at));
    if (chunk.length === 0) return; // the file was truncated
    at += chunk.length;
    const lines: Line[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      const part = chunk.subarray(from, to);
      const bytes = begun.length === 0 ? part : Buffer.concat([...begun, part]);
      lines.push({ offset, bytes });
      offset += bytes.length + 1;
      begun = [];
      from = to + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
}

/** Yields the complete lines before `end`, last line first. Skips bytes after the last newline. */
export async function* linesBackward(
  file: Pick<ReadableFile, "read">,
  end: number,
): AsyncGenerator<Line[]> {
  // The parts of a line whose start has not been read yet, in reverse order.
  let ended: Buffer[] | undefined;
  let wanted = FIRST_CHUNK;
  for (let at = end; at > 0; wanted = Math.min(wanted * 2, LARGEST_CHUNK)) {
    const length = Math.min(wanted, at);
    at -= length;
    const chunk = await readAt(file, at, length);
    if (chunk.length < length) return; // the file was truncated
    const lines: Line[] = [];
    let to = length;
    for (
      let newline = chunk.lastIndexOf(NEWLINE);
      newline >= 0;
      newline = lastIndexBefore(chunk, newline)
    ) {
      if (ended !== undefined)
        lines.push({
          offset: at + newline + 1,
          bytes: join(chunk.subarray(newline + 1, to), ended),
        });
      ended = [];
      to = newline;
    }
    ended?.push(chunk.subarray(0, to));
    if (at === 0 && ended !== undefined)
      lines.push({ offset: 0, bytes: join(Buffer.alloc(0), ended) });
    if (lines.length > 0) yield lines;
  }
}

function lastIndexBefore(chunk: Buffer, index: number): number {
  return index === 0 ? -1 : chunk.lastIndexOf(NEWLINE, index - 1);
}

function join(first: Buffer, rest: readonly Buffer[]): Buffer {
  return rest.length === 0 ? first : Buffer.concat([first, ...rest.toReversed()]);
}

export async function readAt(
  file: Pick<ReadableFile, "read">,
  position: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
