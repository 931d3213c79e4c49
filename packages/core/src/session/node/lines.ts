/**
 * Lines of a file, forward or from its end, in batches; memory and time are linear, however long a
 * line is.
 */
import type { ReadableFile } from "./file.ts";
import { NEWLINE } from "./record.ts";

/**
 * Bytes that are read at first: most often a few lines are wanted. Each further read takes twice as
 * much, up to the largest.
 */
const FIRST_CHUNK = 16 * 1024;
const LARGEST_CHUNK = 1024 * 1024;

export interface Line {
  /** Where it begins in the file. */
  readonly offset: number;
  /** Without its newline. */
  readonly bytes: Buffer;
}

/** The lines of `start` to `end` that have their newline. `start` is where a line begins. */
export async function* linesForward(
  file: Pick<ReadableFile, "read">,
  start: number,
  end: number,
): AsyncGenerator<Line[]> {
  let begun: Buffer[] = []; // of a line whose end has not come yet
  let offset = start;
  let wanted = FIRST_CHUNK;
  for (let at = start; at < end; wanted = Math.min(wanted * 2, LARGEST_CHUNK)) {
    const chunk = await readAt(file, at, Math.min(wanted, end - at));
    if (chunk.length === 0) return; // cut meanwhile
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

/** The same from the end; what stands behind the last newline before `end` is no line. */
export async function* linesBackward(
  file: Pick<ReadableFile, "read">,
  end: number,
): AsyncGenerator<Line[]> {
  let ended: Buffer[] | undefined; // of a line whose beginning has not come yet, last part first
  let wanted = FIRST_CHUNK;
  for (let at = end; at > 0; wanted = Math.min(wanted * 2, LARGEST_CHUNK)) {
    const length = Math.min(wanted, at);
    at -= length;
    const chunk = await readAt(file, at, length);
    if (chunk.length < length) return; // cut meanwhile
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
