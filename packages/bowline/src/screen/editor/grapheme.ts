/** The positions between what a reader sees as single characters. */

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** A cluster longer than this is split. It bounds the work of a key. */
const MAX_CLUSTER = 256;
/** Nearly all are shorter than this. */
const SHORT_CLUSTER = 24;

/** Returns the end of the character that begins at `index`. */
export function nextBoundary(text: string, index: number): number {
  if (index >= text.length) return text.length;
  if (isSimpleAt(text, index) && (index + 1 === text.length || isSimpleAt(text, index + 1)))
    return index + 1;
  for (const size of [SHORT_CLUSTER, MAX_CLUSTER]) {
    const window = text.slice(index, wholeEnd(text, index + size));
    const first = segmenter.segment(window).containing(0);
    if (first !== undefined && (first.segment.length < window.length || size === MAX_CLUSTER))
      return index + first.segment.length;
  }
  return text.length;
}

/** Returns the start of the character that ends at `index`. */
export function previousBoundary(text: string, index: number): number {
  if (index <= 0) return 0;
  if (isSimpleAt(text, index - 1)) return index - 1;
  let start = index - 1;
  const least = Math.max(0, index - 2 * MAX_CLUSTER);
  while (start > least && !isSimpleAt(text, start)) start--;
  const last = segmenter.segment(text.slice(start, index)).containing(index - start - 1);
  return start + (last?.index ?? 0);
}

/** Returns true for a code unit that begins a character whatever precedes it. */
function isSimpleAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return (
    (code >= 0x20 && code <= 0x7e) ||
    code === 0x0a ||
    (code >= 0x3041 && code <= 0x3096) || // kana
    (code >= 0x30a1 && code <= 0x30fa) ||
    (code >= 0x4e00 && code <= 0x9fff) || // Han
    (code >= 0xac00 && code <= 0xd7a3) || // Hangul
    (code >= 0xc0 && code <= 0x24f) || // Latin with accents
    (code >= 0x400 && code <= 0x481) // Cyrillic
  );
}

/** Avoids a cut between the two halves of a surrogate pair. */
function wholeEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
