/** Finds and replaces text in a file, independent of its line endings. */

/** A part of the text, as offsets into the text with LF line endings. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SourceText {
  /** The byte order mark, or "". */
  readonly bom: string;
  /** The exact content without the byte order mark. */
  readonly raw: string;
  /** The content with LF for every CRLF; searches use this. */
  readonly text: string;
  /** Offsets in `text` of the line feeds that were CRLF, ascending. */
  readonly returns: readonly number[];
}

export function toSourceText(content: string): SourceText {
  const bom = content.startsWith("\uFEFF") ? "\uFEFF" : "";
  const raw = content.slice(bom.length);
  const returns: number[] = [];
  for (let at = raw.indexOf("\r\n"); at !== -1; at = raw.indexOf("\r\n", at + 2))
    returns.push(at - returns.length);
  return { bom, raw, text: toLineFeeds(raw), returns };
}

export function toLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Finds up to `limit` non-overlapping occurrences of `wanted`. */
export function findSpans({ bom, text }: SourceText, wanted: string, limit: number): Span[] {
  const needle = toLineFeeds(bom === "" ? wanted : wanted.replace(/^\uFEFF/, ""));
  const spans: Span[] = [];
  if (needle === "") return spans;
  for (
    let at = text.indexOf(needle);
    at !== -1 && spans.length < limit;
    at = text.indexOf(needle, at + needle.length)
  ) {
    spans.push({ start: at, end: at + needle.length });
  }
  return spans;
}

/**
 * Returns the file's new content. Keeps the byte order mark. New text gets the line endings of the
 * part it replaces, or else of the file.
 */
export function replaceSpans(
  source: SourceText,
  spans: readonly Span[],
  replacement: string,
): string {
  const { bom, raw, text, returns } = source;
  const given = bom === "" ? replacement : replacement.replace(/^\uFEFF/, "");
  const newText = toLineFeeds(given);
  const lineFeeds = text.split("\n").length - 1;
  let result = bom;
  let from = 0;
  for (const { start, end } of spans) {
    const [rawStart, rawEnd] = [toRaw(returns, start), toRaw(returns, end)];
    const part = raw.slice(rawStart, rawEnd);
    const isCrlf = part.includes("\n") ? part.includes("\r\n") : returns.length * 2 > lineFeeds;
    const chosen = isCrlf ? newText.replaceAll("\n", "\r\n") : newText;
    result += raw.slice(from, rawStart) + (lineFeeds === 0 ? given : chosen);
    from = rawEnd;
  }
  return result + raw.slice(from);
}

/** Returns the line number of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1))
    line++;
  return line;
}

/** Converts an offset to one in the raw text by adding the carriage returns before it. O(log n). */
function toRaw(returns: readonly number[], offset: number): number {
  let [low, high] = [0, returns.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((returns[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return offset + low;
}
