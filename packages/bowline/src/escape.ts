/**
 * Text from models and file names, made fit for one line: nothing in it can move a cursor, break a
 * line or hide.
 */

const MAX_PATH = 200;

/**
 * Control characters, line separators, lone surrogates and all that shows nothing, escaped: bidi,
 * zero width, tags, fillers, variation selectors, and the Braille pattern without a dot, which
 * looks like a space.
 */
export function escapeText(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    escapeCharacter,
  );
}

/** The same in each line: lines stay lines, and tabs tabs. */
export function escapeLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeText);
}

/**
 * Only what would break a list of one path a line: joiners inside an emoji stay, so that the path
 * can be used again.
 */
export function escapeLineBreaks(path: string): string {
  return path.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

/** A path as it stands in a message: escaped, and cut when very long. */
export function showPath(path: string): string {
  return cutText(escapeText(path), MAX_PATH);
}

/**
 * At most `length` characters, the last of them `…` when some are missing; no character is cut in
 * half.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function escapeCharacter(character: string): string {
  if (character === "\n") return String.raw`\n`;
  if (character === "\r") return String.raw`\r`;
  if (character === "\t") return String.raw`\t`;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
