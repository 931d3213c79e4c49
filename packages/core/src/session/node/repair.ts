/**
 * Mends the end of a session's file that a crash tore: the broken bytes are kept aside, whole
 * records among them stay.
 */
import type { SessionHeader } from "../entry.ts";
import type { SessionDamage } from "../store.ts";
import { writeAll, type AppendableFile } from "./file.ts";
import { readAt } from "./lines.ts";
import { readTail, type LogFile, type LogTail } from "./read-log.ts";
import {
  decodeRecord,
  encodeHeader,
  isEntryRecord,
  isHeaderRecord,
  wholeRecords,
} from "./record.ts";

export interface RepairedTail extends Omit<LogTail, "end"> {
  /** The file's, all of it whole lines. */
  readonly length: number;
}

export interface RepairOptions {
  /** The file's. */
  readonly size: number;
  /** Written when the file has none. */
  readonly header: SessionHeader;
  /** Keeps what is cut off, and says where. */
  readonly keep: (torn: Buffer) => Promise<string>;
  /** Whether to wait for the disk. */
  readonly mustSync: boolean;
  readonly damage: SessionDamage[];
}

/** Only for who holds the session. What is found goes to `damage`. */
export async function repairTail(
  file: LogFile<AppendableFile>,
  { size, header, keep, mustSync, damage }: RepairOptions,
): Promise<RepairedTail> {
  const { handle, path } = file;
  const { end, ...tail } = await readTail(file, size, (found) => damage.push(found));
  if (end === size && size > 0) return { ...tail, length: size };
  const torn = await readAt(handle, end, size - end);
  const whole = wholeRecords(torn);
  const records = whole.map(decodeRecord);
  // A file without a line was made by nobody here, or lost what it held.
  const first = end > 0 || records.some(isHeaderRecord) ? [] : [encodeHeader(header)];
  const bytes = Buffer.concat([
    ...first,
    ...whole.map((record) => Buffer.concat([record, Buffer.from("\n")])),
  ]);
  const savedTo = torn.length === 0 ? undefined : await keep(torn);
  await handle.truncate(end);
  await writeAll(handle, bytes);
  if (mustSync) await handle.datasync();
  const became = whole.length === 0 ? "cut off" : "mended: its record is whole";
  const message = `The end of ${path}, ${torn.length} bytes from ${end} on, was torn and is ${became}.`;
  damage.push(savedTo === undefined ? { message: `${path} was empty.` } : { message, savedTo });
  const last = records.findLast(isEntryRecord);
  const length = end + bytes.length;
  return last === undefined ? { ...tail, length } : { last, nextSeq: last.seq + 1, length };
}
