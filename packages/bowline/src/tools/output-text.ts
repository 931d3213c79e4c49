/** The output of a command as a model may see it: text as it is, other bytes named or left out. */
import { binaryKindOf, imageTypeOf } from "./file-kind.ts";

/** Beyond this many characters that are none, and this share of all, a piece is no text. */
const MAX_COUNT = 8;
const MAX_SHARE = 0.1;
const NO_TEXT = /[\0-\u0006\u000E-\u001A\u001C-\u001F\u007F\uFFFD]/g;

/** Whether decoded output is data rather than text. A few stray bytes do not make it so. */
export function isBinary(text: string): boolean {
  return (text.match(NO_TEXT)?.length ?? 0) > Math.max(MAX_COUNT, text.length * MAX_SHARE);
}

/** What the data is, by its first bytes. */
export function nameBinary(head: Buffer): string {
  return imageTypeOf(head) ?? binaryKindOf(head);
}

/**
 * Control characters that do nothing in a text, such as NUL, escaped; tabs, colours and the like
 * stay.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\0-\u0006\u000E-\u001A\u001C-\u001F\u007F]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
