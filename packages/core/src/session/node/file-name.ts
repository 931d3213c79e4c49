/**
 * Converts ids and other external strings to file names: unique per string, valid on every file
 * system, never a path.
 */
import { createHash } from "node:crypto";

const LONGEST = 160;
/** Length of the SHA-256 part, in hex digits. */
const DIGEST_LENGTH = 32;
/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Converts a string to a file name. Keeps lowercase letters, digits, `-` and `_`, and writes every
 * other UTF-8 byte as `%` and two hex digits. Uppercase letters are escaped because some file
 * systems ignore case. A name longer than `longest` is cut and ends with `~` and half of its
 * SHA-256.
 */
export function toFileName(text: string, longest: number = LONGEST): string {
  const name = DEVICE.test(text)
    ? escape(text.slice(0, 1)) + text.slice(1)
    : text.replaceAll(/[^a-z0-9_-]+/g, escape);
  if (name.length <= longest) return name;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  return `${name.slice(0, longest - DIGEST_LENGTH - 1)}~${digest}`;
}

/** Returns the string of a file name, or undefined for a name that was cut or is invalid. */
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
