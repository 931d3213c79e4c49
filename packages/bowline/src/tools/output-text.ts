/** Shows a command's output to a model: text unchanged, binary data described. */
import { binaryKindOf, imageTypeOf } from "./file-kind.ts";

/** A text with more control characters than this count and this share is binary. */
const MAX_COUNT = 8;
const MAX_SHARE = 0.1;
const NO_TEXT = /[\0-\u0006\u000E-\u001A\u001C-\u001F\u007F\uFFFD]/g;

/** Returns true if decoded output is binary data. A few stray bytes do not count. */
export function isBinary(text: string): boolean {
  return (text.match(NO_TEXT)?.length ?? 0) > Math.max(MAX_COUNT, text.length * MAX_SHARE);
}

/** Describes the data by its first bytes. */
export function nameBinary(head: Buffer): string {
  return imageTypeOf(head) ?? binaryKindOf(head);
}

/**
 * Escapes control characters without a use in text, such as NUL. Keeps tabs, colours and similar.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\0-\u0006\u000E-\u001A\u001C-\u001F\u007F]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
