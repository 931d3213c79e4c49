/**
 * Normalises a person's wording. Quoted text is moved to a private plane of Unicode, so that
 * patterns do not see spaces, commas or "and" in it. `restore` and `unquote` move it back.
 */
const PLANE = 0x100000;
const PROTECTED = /[\u{100000}-\u{10FFFF}]/gu;
const QUOTED = /`[^`]*`|"[^"]*"|“[^“”]*”|(?<!\w)'[^'\n]*'(?!\w)/g;
const LEAD =
  /^(?:(?:please|pls|plz|kindly|and|then|now|also|so|well|just|hey|hi|hello|yo|ok|okay|thanks|hi there|hello there|hey there|good morning|quick question|bowline|(?:can|could|would|will) (?:you|u)|(?:can|could|may) i|would you (?:be so kind as to|be able to|like to)|is it possible to|i (?:just )?(?:want|need|would like|would love) to know|i (?:want|need|would like) you to|i (?:just )?(?:want|need|would like|would love) to(?: be able to)?(?=\s+(?:see|read|find|search|look|count|list|show|open|create|make|write|print|view|get|have a look))|do you know|let me know|i wonder|help me(?: to)?|let['’]?s|have a (?=look)|take a (?=look)|go and|tell me|(?:show me|tell|check|find out|say|see)(?=\s+(?:what|which|how|where|who)\b))[,:!.]?\s+)+/i;
const TRAIL =
  /(?:[\s,]+(?:please|pls|plz|thanks|thanks a lot|thank you|thank you very much|thx|ty|cheers|for me|if you can|will you|would you|can you)|(?<=[^\s.])[.?!…]+|\s+)+$/i;
/** Replacements of contractions by full words, and of "would you mind …ing" by the verb. */
const SHORT: readonly (readonly [RegExp, string])[] = [
  [/\b(what|where|which|who|how|there)['’]s\b/gi, "$1 is"],
  [/\b(what|where|who)s\b/gi, "$1 is"],
  [/\b(what|where)['’]re\b/gi, "$1 are"],
  [/\bi['’]?m\b/gi, "i am"],
  [/\bi['’]?ve\b/gi, "i have"],
  [/\bi['’]d\b/gi, "i would"],
  [/^((?:\S+ ){0,3})(?:would|do) you mind (\w+)ing\b/i, "$1$2"],
];

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
  const whole = SHORT.reduce((said, [word, words]) => said.replace(word, words), text.trim());
  return whole.replace(LEAD, "").replace(TRAIL, "");
}

const NOISE =
  /^(?:(?:the|a|an|my|our|this|that|contents?|sizes?|of|files?|folders?|called|named)\s+)+|\s+(?:files?|folders?|size)$/gi;
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

/** The words of a text, in lower case, without names that hold a full stop or a slash. */
export function toWords(text: string): string[] {
  return text.toLowerCase().match(/(?<![\w./-])[a-z]{2,}(?![\w/-]|\.\w)/g) ?? [];
}
