/**
 * Normalises a person's wording. Quoted text is moved to a private plane of Unicode, so that
 * patterns do not see spaces, commas or "and" in it. `restore` and `unquote` move it back.
 */
const PLANE = 0x100000;
const PROTECTED = /[\u{100000}-\u{10FFFF}]/gu;
const QUOTED = /`[^`]*`|"[^"]*"|“[^“”]*”|(?<!\w)'[^'\n]*'(?!\w)/g;
const LEAD =
  /^(?:(?:please|kindly|and|then|now|also|so|just|hey|hi|hello|bowline|(?:can|could|would|will) you|can i|i (?:want|need|would like|['’]d like) to know|i (?:want|need|would like) you to|do you know|let me know|help me(?: to)?|let['’]s|tell me|(?:show me|tell|check|find out|say|see)(?=\s+(?:what|which|how|where|who)\b))[,:!.]?\s+)+/i;
const TRAIL = /(?:[\s,]+(?:please|thanks|thank you|for me)|(?<=[^\s.])[.?!…]+|\s+)+$/i;

export function protect(text: string): string {
  const shift = (unit: string): string => String.fromCodePoint(PLANE + unit.charCodeAt(0));
  return text.replaceAll(QUOTED, (span) => span.replaceAll(/[^]/g, shift));
}

export function restore(text: string): string {
  return text.replaceAll(PROTECTED, (character) =>
    String.fromCharCode((character.codePointAt(0) ?? PLANE) - PLANE),
  );
}

export function withoutQuotes(text: string): string {
  return text.replaceAll(PROTECTED, "");
}

export function isQuoted(text: string): boolean {
  return text !== "" && withoutQuotes(text) === "";
}

/** Returns the plain text, without quotes if all of it was quoted. */
export function unquote(text: string): string {
  return isQuoted(text) ? restore(text).slice(1, -1) : restore(text.trim());
}

/** Removes polite words at both ends. */
export function toPhrase(text: string): string {
  return text.trim().replace(LEAD, "").replace(TRAIL, "");
}

const NOISE =
  /^(?:(?:the|a|an|my|our|this|that|contents?|sizes?|of|files?|folders?)\s+)+|\s+(?:files?|folders?|size)$/gi;
const HERE =
  /^(?:here|\.|(?:the|this|my|our) (?:current )?(?:folder|directory|project|repo(?:sitory)?|package|files))$/i;

/**
 * Splits "the files a.txt and "my b.txt"" into a.txt and my b.txt. An empty text means this folder.
 * Returns undefined if an unquoted name has spaces.
 */
export function toRefs(text = "here"): string[] | undefined {
  const refs = text
    .split(/\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|with|to|(?:bigger|larger|smaller)\s+than)\s+/i)
    .map((item) => (HERE.test(item) ? "." : item.replaceAll(NOISE, "")));
  return refs.some((ref) => ref === "" || /\s/.test(ref))
    ? undefined
    : refs.map((ref) => toPath(unquote(ref)));
}

/** Normalises a path: `./src/` and `src` are the same. */
export function toPath(text: string): string {
  return text.replace(/^(?:\.\/)+(?=.)/, "").replace(/(?<=[^/])\/+$/, "");
}
