/**
 * Where East Asian text may be broken: before and after each wide character, except around
 * punctuation that belongs to its neighbour.
 */

const CLOSING = /^[、。，．・：；？！）］｝」』】〉》〕ー…]/u;
const OPENING = /^[（［｛「『【〈《〔]/u;

/** Returns false for punctuation that must follow the character before it on the same row. */
export function mayStartRow(char: string): boolean {
  return !CLOSING.test(char);
}

/** Returns false for punctuation that must precede the next character on the same row. */
export function mayEndRow(char: string): boolean {
  return !OPENING.test(char);
}
