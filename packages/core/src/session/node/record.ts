/**
 * The format of a record: one line with a JSON object whose last field, `crc`, is the CRC-32 (8 hex
 * digits) of the bytes before `,"crc"`. Other programs can read a line as plain JSON. The checksum
 * detects flipped bits and incomplete writes.
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

/** Encodes an entry with `seq` first, which marks the beginning of a record in joined lines. */
export function encodeEntry({ seq, ...rest }: AnyEntry): Buffer {
  return encodeRecord({ seq, ...rest });
}

export function encodeRecord(value: object): Buffer {
  const body = toJson(value).slice(0, -1);
  return Buffer.from(`${body},"crc":"${crc32(body).toString(16).padStart(8, "0")}"}\n`);
}

/** The content of a line: one record, or the valid records of a damaged line. */
export interface DecodedLine {
  readonly records: readonly unknown[];
  readonly isDamaged: boolean;
}

/** Decodes a line. `bytes` exclude its newline. */
export function decodeLine(bytes: Buffer): DecodedLine {
  const record = decodeRecord(bytes);
  if (record !== undefined) return { records: [record], isDamaged: false };
  return { records: wholeRecords(bytes).map(decodeRecord), isDamaged: true };
}

/**
 * Returns the complete records in bytes that are not a valid line. An overwritten newline joins two
 * records or adds a byte to one. An incomplete write may lack only the newline.
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
    return undefined; // a valid checksum but invalid JSON: not written by this program
  }
}

export function isEntryRecord(record: unknown): record is AnyEntry {
  return typeof asRecord(record).seq === "number";
}

export function isHeaderRecord(record: unknown): record is HeaderRecord {
  return asRecord(record).format === FORMAT;
}
