/** Recognises how a line begins a block of Markdown. The line has spaces for leading tabs. */

export type BlockStart =
  | { readonly type: "quote"; readonly rest: string }
  | {
      readonly type: "item";
      /** The bullet, or the character after the number. */
      readonly kind: string;
      /** Undefined for a bullet. */
      readonly number: number | undefined;
      /** Cells before the item's text; its further lines have as many. */
      readonly indent: number;
      readonly rest: string;
    }
  | { readonly type: "heading"; readonly level: number; readonly text: string }
  | {
      readonly type: "fence";
      readonly mark: string;
      readonly indent: number;
      readonly info: string;
    }
  | { readonly type: "rule" }
  | { readonly type: "html" }
  | { readonly type: "indented" }
  | { readonly type: "text" };

const TAB = 4;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)(.*)$/;
const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/;
const ITEM = /^( {0,3})(?:([-+*])|(\d{1,9})([.)]))( +|$)/;
const HTML =
  /^ {0,3}<(?:!--|!doctype\b|\?|\/?(?:address|article|aside|body|center|dd|details|dialog|div|dl|dt|fieldset|figure|figcaption|footer|form|h[1-6]|head|header|hr|html|iframe|img|li|link|main|menu|meta|nav|ol|p|pre|script|section|style|summary|svg|table|tbody|td|tfoot|th|thead|title|tr|ul|video)\b)/i;

export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

export function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** Replaces leading tabs with spaces. */
export function expandIndent(line: string): string {
  const lead = /^[ \t]*/.exec(line)?.[0] ?? "";
  if (!lead.includes("\t")) return line;
  let width = 0;
  for (const char of lead) width += char === "\t" ? TAB - (width % TAB) : 1;
  return " ".repeat(width) + line.slice(lead.length);
}

/** `isInParagraph`: fewer blocks may begin in the middle of a paragraph. */
export function blockStart(line: string, isInParagraph: boolean): BlockStart {
  if (indentOf(line) >= TAB) return { type: isInParagraph ? "text" : "indented" };
  const quote = /^ {0,3}> ?/.exec(line);
  if (quote !== null) return { type: "quote", rest: expandIndent(line.slice(quote[0].length)) };
  if (RULE.test(line)) return { type: "rule" };
  const [, lead = "", mark, info = ""] = FENCE.exec(line) ?? [];
  if (mark !== undefined && !(mark.startsWith("`") && info.includes("`")))
    return { type: "fence", mark, indent: lead.length, info: info.trim() };
  const [, hashes, text = ""] = HEADING.exec(line) ?? [];
  if (hashes !== undefined)
    return {
      type: "heading",
      level: hashes.length,
      text: text.replace(/(?:^|[ \t]+)#+[ \t]*$/, ""),
    };
  const item = itemStart(line, isInParagraph);
  if (item !== undefined) return item;
  return { type: HTML.test(line) ? "html" : "text" };
}

function itemStart(line: string, isInParagraph: boolean): BlockStart | undefined {
  const [whole, lead = "", bullet, digits, delimiter, spaces = ""] = ITEM.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const rest = line.slice(whole.length);
  const number = digits === undefined ? undefined : Number(digits);
  // Text such as "1999. A year" at the start of a line of a paragraph is no list.
  if (isInParagraph && (isBlank(rest) || (number !== undefined && number !== 1))) return undefined;
  const marker = lead.length + (bullet ?? `${digits}${delimiter}`).length;
  const kind = bullet ?? delimiter ?? "";
  if (isBlank(rest)) return { type: "item", kind, number, indent: marker + 1, rest: "" };
  // More than four spaces: one belongs to the marker, the others make the text code.
  const gap = spaces.length > TAB ? 1 : spaces.length;
  return {
    type: "item",
    kind,
    number,
    indent: marker + gap,
    rest: expandIndent(line.slice(whole.length - spaces.length + gap)),
  };
}
