/**
 * Escapes text from models and file names for display on one line. The result cannot move a cursor,
 * break a line or hide characters.
 */

const MAX_PATH = 200;

/**
 * Escapes control characters, line separators, lone surrogates and invisible characters: bidi
 * marks, zero-width characters, tags, fillers, variation selectors and the blank Braille pattern.
 */
export function escapeText(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    escapeCharacter,
  );
}

/** Like {@link escapeText}, but keeps line feeds and tabs. */
export function escapeLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeText);
}

/**
 * Escapes only what would break a list with one path per line. Joiners inside an emoji stay, so
 * that the path can be used again.
 */
export function escapeLineBreaks(path: string): string {
  return path.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

/** Returns a path for a message: escaped, and cut to 200 characters. */
export function showPath(path: string): string {
  return cutText(escapeText(path), MAX_PATH);
}

/**
 * Cuts a text to `length` characters; the last one is `…` if any are missing. Surrogate pairs are
 * not split.
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
