/**
 * Text in columns. PostgreSQL refuses U+0000, and a driver replaces lone surrogates, so both are
 * escaped, and the backslash with them. All other text is as it is.
 */
import { createHash } from "node:crypto";

/** An index entry has a limit of 2,700 bytes. */
const LONGEST_KEY = 512;

export function toColumn(text: string): string {
  return text.replaceAll(/[\\\0\p{Surrogate}]/gu, (found) => {
    if (found === "\\") return "\\\\";
    return found === "\0" ? "\\0" : `\\u${found.charCodeAt(0).toString(16)}`;
  });
}

export function fromColumn(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/g, (_, hex: string | undefined, one: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return one === "0" ? "\0" : one;
  });
}

/** Returns the column of a key, which is indexed. A long one becomes a digest. */
export function toKey(text: string): string {
  if (text.length <= LONGEST_KEY) return toColumn(text);
  return `\\h${createHash("sha256").update(toColumn(text)).digest("hex")}`;
}

/** Returns JSON text for `jsonb`, which holds no U+0000 and no lone surrogates. For searching only. */
export function toSearchable(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replaceAll(
    /\\u(?:0000|d[89a-f][0-9a-f]{2})/gi,
    (found, at: number, all: string) => (isEscaped(all, at) ? found : "\\ufffd"),
  );
}

/** Whether the backslash at `at` is itself escaped. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}
