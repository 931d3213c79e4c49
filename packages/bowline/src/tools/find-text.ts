/** Finding and replacing a text in a file whose line endings the model does not know. */

/** A replaced part, as offsets into the text with LF line endings. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SourceText {
  /** The byte order mark, or "". */
  readonly bom: string;
  /** Exactly as in the file, without the mark. */
  readonly raw: string;
  /** With every CRLF as LF: what is searched. */
  readonly text: string;
  /** Where in `text` the line feeds are that stand for CRLF, ascending. */
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

/** The places where `wanted` occurs, none overlapping another, and no more of them than `limit`. */
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
 * The file's new content: its mark, and in the new text the line endings of the part that is
 * replaced, else of the file.
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

/** The number of the line, from 1, in which an offset lies. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1))
    line++;
  return line;
}

/** An offset into the raw text: one more for each carriage return before it. O(log n). */
function toRaw(returns: readonly number[], offset: number): number {
  let [low, high] = [0, returns.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((returns[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return offset + low;
}
