/**
 * One record is one line: a JSON object whose last field, `crc`, is the CRC-32 (8 hex digits) of
 * the line's bytes before `,"crc"`. So a line is plain JSON for other programs, and no flipped bit
 * or torn write passes for a record.
 */
import { crc32 } from "node:zlib";
import { asRecord } from "../../json-value.ts";
import type { AnyEntry, SessionHeader } from "../entry.ts";
import { toJson } from "../store.ts";

export const NEWLINE = 10;
const FORMAT = "bowline session";
export const VERSION = 1;

const CRC = /^,"crc":"([0-9a-f]{8})"\}$/;
const CRC_LENGTH = `,"crc":"00000000"}`.length;

/** A session's first line. */
export interface HeaderRecord extends SessionHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
}

export function encodeHeader(header: SessionHeader): Buffer {
  return encodeRecord({ format: FORMAT, version: VERSION, ...header } satisfies HeaderRecord);
}

/** `seq` comes first, by which joined lines are told apart. */
export function encodeEntry({ seq, ...rest }: AnyEntry): Buffer {
  return encodeRecord({ seq, ...rest });
}

export function encodeRecord(value: object): Buffer {
  const body = toJson(value).slice(0, -1);
  return Buffer.from(`${body},"crc":"${crc32(body).toString(16).padStart(8, "0")}"}\n`);
}

/** What one line holds: one record, or what can be saved of a damaged line. */
export interface DecodedLine {
  readonly records: readonly unknown[];
  readonly isDamaged: boolean;
}

/** `bytes` are a line without its newline. */
export function decodeLine(bytes: Buffer): DecodedLine {
  const record = decodeRecord(bytes);
  if (record !== undefined) return { records: [record], isDamaged: false };
  return { records: wholeRecords(bytes).map(decodeRecord), isDamaged: true };
}

/**
 * The whole records in bytes that are no line: a newline that was overwritten joins two, or leaves
 * one with a byte behind it; a torn write may lack nothing but the newline.
 */
export function wholeRecords(bytes: Buffer): Buffer[] {
  const pieces = bytes.toString("latin1").split(/(?<=,"crc":"[0-9a-f]{8}"\})[^](?=\{"seq":|$)/);
  return pieces
    .map((piece) => Buffer.from(piece, "latin1"))
    .filter((piece) => decodeRecord(piece) !== undefined);
}

export function decodeRecord(bytes: Buffer): unknown {
  const end = bytes.length - CRC_LENGTH;
  if (end <= 0) return undefined;
  const sum = CRC.exec(bytes.toString("latin1", end))?.[1];
  if (sum === undefined || Number.parseInt(sum, 16) !== crc32(bytes.subarray(0, end)))
    return undefined;
  try {
    return JSON.parse(`${bytes.toString("utf8", 0, end)}}`);
  } catch {
    return undefined; // a sum that fits and no JSON: not written here
  }
}

export function isEntryRecord(record: unknown): record is AnyEntry {
  return typeof asRecord(record).seq === "number";
}

export function isHeaderRecord(record: unknown): record is HeaderRecord {
  return asRecord(record).format === FORMAT;
}
