/**
 * Ids and other texts from outside as file names: one name for each text, fit for every file
 * system, never a path.
 */
import { createHash } from "node:crypto";

const LONGEST = 160;
/** Of a SHA-256, in hex digits. */
const DIGEST_LENGTH = 32;
/** Names that Windows keeps for devices, whatever extension follows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Small letters, digits, `-` and `_` stay; every other byte of the UTF-8 is `%` and two hex digits,
 * capitals too, because file systems may not tell them apart. What is longer than `longest` is cut,
 * with `~` and half of its SHA-256 behind.
 */
export function toFileName(text: string, longest: number = LONGEST): string {
  const name = DEVICE.test(text)
    ? escape(text.slice(0, 1)) + text.slice(1)
    : text.replaceAll(/[^a-z0-9_-]+/g, escape);
  if (name.length <= longest) return name;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  return `${name.slice(0, longest - DIGEST_LENGTH - 1)}~${digest}`;
}

/** The text of a name; undefined for one that was cut. */
export function fromFileName(name: string): string | undefined {
  if (name.includes("~")) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

function escape(text: string): string {
  return Buffer.from(text)
    .toString("hex")
    .replaceAll(/../g, (byte) => `%${byte}`);
}
