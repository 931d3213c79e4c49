/**
 * Reads a session's file: each record is verified whenever it is read, and only what is asked for
 * is read.
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
 * A file that is not longer than this is read from its beginning: to look for a place in it would
 * cost more.
 */
const SHORT = 64 * 1024;

/** An open file, with its path for messages. */
export interface LogFile<T extends ReadableFile = ReadableFile> {
  readonly handle: T;
  readonly path: string;
}

type OnDamage = ReadOptions["onDamage"];

/** Runs `work` over the file, opened to be read. */
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

/** What is in the file now; see {@link Store.read}. */
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
  // The place may be some lines early: what stands between it and the entry after `from` comes
  // first.
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
 * Batches of entries, and where the lines end from which they came. `begin` is where a line begins.
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
      : `left out but for ${saved} whole ${saved === 1 ? "record" : "records"}`;
  return {
    message: `${what} of ${path} at bytes ${offset} to ${offset + length} is damaged and ${rest}.`,
  };
}

/**
 * Where a line begins before which there is no entry of `seq` or later; halved until what is left
 * is short.
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
  /** The `seq` that the next entry gets: numbers of damaged records are passed over. */
  readonly nextSeq: number;
  /** Where the last whole line ends. What stands behind it is torn. */
  readonly end: number;
}

/** How the file ends. Reads back to the last good entry. */
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
  /** The id that the session has when its header is lost. */
  readonly id: string;
  /** The file's. */
  readonly size: number;
  readonly onDamage?: OnDamage;
}

/**
 * The first line. A damaged one is reported, and made up for from the id and the first entry.
 * Rejects with `storage_failed` for a file of a newer version.
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
    const message = `${file.path} has version ${version} of the session format; this reads versions up to ${VERSION}.`;
    throw new BowlineError("storage_failed", message);
  }
  if (length < size) onDamage?.(damageAt(file.path, 0, length, 0));
  for await (const [first] of readEntries(file)) return { id, createdAt: first?.timestamp ?? 0 };
  return { id, createdAt: 0 };
}

/** Or what is there of it. */
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
