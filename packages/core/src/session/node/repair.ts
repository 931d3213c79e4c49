/**
 * Repairs the end of a session's file after a crash. Saves the incomplete bytes to another file and
 * keeps complete records among them.
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
  /** Length of the file in bytes, all complete lines. */
  readonly length: number;
}

export interface RepairOptions {
  /** Size of the file in bytes. */
  readonly size: number;
  /** Written if the file has no header. */
  readonly header: SessionHeader;
  /** Saves the bytes that are cut off. Resolves with the path of their file. */
  readonly keep: (torn: Buffer) => Promise<string>;
  /** Whether to sync to the disk before resolving. */
  readonly mustSync: boolean;
  readonly damage: SessionDamage[];
}

/**
 * Repairs the end of the file and adds what it finds to `damage`. The caller must hold the
 * session's lock.
 */
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
  // A file without any line lost its content or was created by another program.
  const first = end > 0 || records.some(isHeaderRecord) ? [] : [encodeHeader(header)];
  const bytes = Buffer.concat([
    ...first,
    ...whole.map((record) => Buffer.concat([record, Buffer.from("\n")])),
  ]);
  const savedTo = torn.length === 0 ? undefined : await keep(torn);
  await handle.truncate(end);
  await writeAll(handle, bytes);
  if (mustSync) await handle.datasync();
  const became = whole.length === 0 ? "cut off" : "repaired: its record is complete";
  const message = `The end of ${path}, ${torn.length} bytes from ${end} on, was incomplete and was ${became}.`;
  damage.push(savedTo === undefined ? { message: `${path} was empty.` } : { message, savedTo });
  const last = records.findLast(isEntryRecord);
  const length = end + bytes.length;
  return last === undefined ? { ...tail, length } : { last, nextSeq: last.seq + 1, length };
}
