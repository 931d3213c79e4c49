/**
 * Reads a session's file. Verifies each record on every read, and reads only the requested part.
 */
import { open } from "node:fs/promises";
import { BowlineError } from "../../errors.ts";
import type { AnyEntry, SessionHeader } from "../entry.ts";
import type { ReadOptions, SessionDamage } from "../store.ts";
import type { ReadableFile } from "./file.ts";
import { linesBackward, linesForward, readAt, type Line } from "./lines.ts";
import {
  decodeLine,
  decodeRecord,
  isEntryRecord,
  isHeaderRecord,
  VERSION,
  wholeRecords,
} from "./record.ts";

/**
 * A range up to this size in bytes is read from its beginning, because a binary search would cost
 * more.
 */
const SHORT = 64 * 1024;

/** An open file and its path for messages. */
export interface LogFile<T extends ReadableFile = ReadableFile> {
  readonly handle: T;
  readonly path: string;
}

type OnDamage = ReadOptions["onDamage"];

/** Opens the file for reading, runs `work`, and closes it. */
export async function* withLog<T>(
  path: string,
  work: (file: LogFile) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const handle = await open(path, "r");
  try {
    yield* work({ handle, path });
  } finally {
    await handle.close();
  }
}

/** Yields the current entries of the file; see {@link Store.read}. */
export async function* readEntries(
  file: LogFile,
  { from, reverse = false, onDamage }: ReadOptions = {},
): AsyncGenerator<AnyEntry[]> {
  const { size } = await file.handle.stat();
  const begin = from === undefined ? (reverse ? size : 0) : await placeOf(file, from, size);
  if (!reverse) {
    for await (const { entries } of entriesForward(file, begin, size, onDamage)) {
      const chosen = from === undefined ? entries : entries.filter(({ seq }) => seq >= from);
      if (chosen.length > 0) yield chosen;
    }
    return;
  }
  // The position may be some lines early, so first yield the entries between it and `from`.
  const rest: AnyEntry[] = [];
  if (from !== undefined) {
    for await (const { entries } of entriesForward(file, begin, size, onDamage)) {
      rest.push(...entries.filter(({ seq }) => seq <= from));
      if (entries.some(({ seq }) => seq > from)) break;
    }
    if (rest.length > 0) yield rest.toReversed();
  }
  for await (const lines of linesBackward(file.handle, begin)) {
    const entries = lines.flatMap((line) => entriesOf(line, file, onDamage).toReversed());
    if (entries.length > 0) yield entries;
  }
}

/**
 * Yields batches of entries, each with the position after its last line. `begin` must be the
 * beginning of a line.
 */
export async function* entriesForward(
  file: LogFile,
  begin: number,
  end: number,
  onDamage?: OnDamage,
): AsyncGenerator<{ readonly entries: AnyEntry[]; readonly end: number }> {
  for await (const lines of linesForward(file.handle, begin, end)) {
    const entries = lines.flatMap((line) => entriesOf(line, file, onDamage));
    const last = lines.at(-1) as Line;
    yield { entries, end: last.offset + last.bytes.length + 1 };
  }
}

function entriesOf({ offset, bytes }: Line, { path }: LogFile, onDamage: OnDamage): AnyEntry[] {
  const { records, isDamaged } = decodeLine(bytes);
  if (isDamaged) onDamage?.(damageAt(path, offset, bytes.length, records.length));
  return records.filter(isEntryRecord);
}

function damageAt(path: string, offset: number, length: number, saved: number): SessionDamage {
  const what = offset === 0 ? "The header" : "A record";
  const rest =
    saved === 0
      ? "left out"
      : `left out, except for ${saved} complete ${saved === 1 ? "record" : "records"}`;
  return {
    message: `${what} of ${path} at bytes ${offset} to ${offset + length} is damaged and was ${rest}.`,
  };
}

/**
 * Returns the beginning of a line before which all entries have a lower `seq`. Uses binary search
 * down to `SHORT` bytes.
 */
export async function placeOf(file: LogFile, seq: number, size: number): Promise<number> {
  let low = 0;
  let high = seq > 0 ? size : 0;
  while (high - low > SHORT) {
    const middle = Math.floor((low + high) / 2);
    const probe = await firstEntryAfter(file, middle, high);
    if (probe !== undefined && probe.seq < seq) low = probe.offset;
    else high = middle;
  }
  return low;
}

async function firstEntryAfter(
  file: LogFile,
  start: number,
  end: number,
): Promise<{ readonly offset: number; readonly seq: number } | undefined> {
  let isPart = true;
  for await (const lines of linesForward(file.handle, start, end)) {
    for (const { offset, bytes } of lines) {
      const [first] = isPart ? [] : decodeLine(bytes).records.filter(isEntryRecord);
      if (first !== undefined) return { offset, seq: first.seq };
      isPart = false;
    }
  }
  return undefined;
}

export interface LogTail {
  readonly last: AnyEntry | undefined;
  /** The `seq` of the next entry. The numbers of damaged records are skipped. */
  readonly nextSeq: number;
  /** Position after the last complete line. Bytes after it are incomplete. */
  readonly end: number;
}

/** Reads the end of the file, back to the last valid entry. */
export async function readTail(file: LogFile, size: number, onDamage?: OnDamage): Promise<LogTail> {
  let end: number | undefined;
  let damaged = 0;
  for await (const lines of linesBackward(file.handle, size)) {
    for (const line of lines) {
      end ??= line.offset + line.bytes.length + 1;
      const last = entriesOf(line, file, onDamage).at(-1);
      if (last !== undefined) return { last, nextSeq: last.seq + 1 + damaged, end };
      if (line.offset > 0) damaged++;
    }
  }
  return { last: undefined, nextSeq: damaged, end: end ?? 0 };
}

export interface HeaderOptions {
  /** The session's id, used if its header is lost. */
  readonly id: string;
  /** Size of the file in bytes. */
  readonly size: number;
  readonly onDamage?: OnDamage;
}

/**
 * Reads the header from the first line. A damaged header is reported and rebuilt from the id and
 * the first entry. Rejects with `storage_failed` for a file of a newer version.
 */
export async function readHeader(
  file: LogFile,
  { id, size, onDamage }: HeaderOptions,
): Promise<SessionHeader> {
  const { length, records } = await firstLine(file, size);
  const header = records.find(isHeaderRecord);
  if (header !== undefined) {
    const { format: _, version, ...rest } = header;
    if (version <= VERSION) return rest;
    const message = `${file.path} has version ${version} of the session format, but this release reads versions up to ${VERSION}. Update it.`;
    throw new BowlineError("storage_failed", message);
  }
  if (length < size) onDamage?.(damageAt(file.path, 0, length, 0));
  for await (const [first] of readEntries(file)) return { id, createdAt: first?.timestamp ?? 0 };
  return { id, createdAt: 0 };
}

/** Reads the first line, or its valid records if it is incomplete. */
async function firstLine(
  { handle }: LogFile,
  size: number,
): Promise<{ readonly length: number; readonly records: readonly unknown[] }> {
  for await (const [line] of linesForward(handle, 0, size)) {
    if (line !== undefined)
      return { length: line.bytes.length, records: decodeLine(line.bytes).records };
  }
  return { length: size, records: wholeRecords(await readAt(handle, 0, size)).map(decodeRecord) };
}
