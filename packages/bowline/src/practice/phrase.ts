/**
 * A person's wording, made regular. Quoted text is protected by moving its characters to a private plane of Unicode, where no
 * pattern sees a space, a comma or an "and" in it; `restore` and `unquote` bring it back.
 */
import { Setback, toPath } from "./step.ts";
import type { Context } from "./step.ts";

const PLANE = 0x100000;
const PROTECTED = /[\u{100000}-\u{1000FF}]/gu;
const QUOTED = /```[^\n`]*\n[\s\S]*?```|`[^`]*`|"[^"]*"|“[^“”]*”|(?<!\w)'(?:[^'\n]|'(?=\w)){0,500}'(?!\w)/g;
const LEAD =
  /^(?:(?:please|kindly|and|now|just|also|next|finally|first(?! (?:\d|lines?|few|two|three|five|ten)\b)|okay|ok|so|hey|hi|hello|bowline|(?:can|could|would|will) you|i want you to|i(?:'d| would) like (?:you )?to|i want to (?:know|see)|let(?:'s| us| me know)|go ahead and|try to|tell me|show me(?= (?:what|which|where|how))|do you know)[,:]?\s+)+/i;
const TRAIL = /(?:[\s,]+(?:please|thanks|thank you|for me)|(?<=[^\s.])[.?!…]+|\s+)$/i;
const JOINER = /\s*;\s*(?:and\s+|then\s+)*|[.,]?\s+(?:and then|then|and also|and)\s+|[.,]\s+|\n/gi;

export function protect(text: string): string {
  const shift = (character: string): string => String.fromCodePoint(PLANE + character.charCodeAt(0));
  return text.replaceAll(QUOTED, (span) => span.replaceAll(/[\u0000-\u00ff]/g, shift));
}

export function restore(text: string): string {
  const back = (character: string): string => String.fromCharCode((character.codePointAt(0) ?? 0) - PLANE);
  return text.replaceAll(PROTECTED, back);
}

export function withoutQuotes(text: string): string {
  return text.replaceAll(PROTECTED, "");
}

export function isQuoted(text: string): boolean {
  return text !== "" && !/[\u0000-\u00ff]/.test(text.trim()) && restore(text) !== text;
}

/** The plain text; without its quotes if it was quoted as a whole. */
export function unquote(text: string): string {
  const plain = restore(text.trim());
  if (!isQuoted(text)) return plain;
  return plain.startsWith("```") ? plain.slice(plain.indexOf("\n") + 1, -3) : plain.slice(1, -1);
}

/** Without the politeness round it; inner runs of blanks become one, so that patterns stay fast. */
export function toPhrase(text: string): string {
  let phrase = text
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim()
    .replace(LEAD, "");
  for (let before = ""; before !== phrase;) {
    before = phrase;
    phrase = phrase.replace(TRAIL, "");
  }
  return phrase;
}

/** Where the phrase may be cut in two, first to last. */
export function toCuts(phrase: string): { readonly left: string; readonly right: string }[] {
  return [...phrase.matchAll(JOINER)].map((match) => ({
    left: phrase.slice(0, match.index),
    right: phrase.slice(match.index + match[0].length),
  }));
}

const NOISE =
  /^(?:(?:me|us|the|a|an|my|our|whole|entire|full|contents?|text|source|code|of|files?|module|folders?|director(?:y|ies)|called|named)\s+)+/i;
const AFTERNOISE = /\s+(?:files?|folders?|director(?:y|ies)|module|one)$/i;
const HERE =
  /^(?:here|\.|(?:the|this|my|our|all)(?: (?:current|whole|entire))? (?:files|folder|directory|project|repo(?:sitory)?|code(?:base)?|workspace|package)|everywhere)$/i;

/** "the files a.txt and "my b.txt"" → a.txt, my b.txt. Undefined if a name without quotes has spaces. */
export function toRefs(text: string | undefined): string[] | undefined {
  if (text === undefined || HERE.test(text)) return ["."];
  const refs = text
    .split(/\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|with|to|vs\.?|versus|(?:bigger|larger|smaller) than)\s+/i)
    .map((item) => {
      return HERE.test(item) ? "." : item.replace(NOISE, "").replace(AFTERNOISE, "");
    });
  return refs.some((ref) => ref === "" || /\s/.test(ref)) ? undefined : refs.map((ref) => toPath(unquote(ref)));
}

const ONE = /^(?:it|this|that|file|folder|result)$/i;
const SEVERAL = /^(?:them|these|those|they|both|all|files|results)$/i;

/** The paths that refs stand for; a pronoun stands for what the step before found. */
export function resolve(context: Context, refs: readonly string[]): string[] {
  const paths = refs.flatMap((ref) => {
    const one = ONE.test(ref);
    if (!one && !SEVERAL.test(ref)) return [ref];
    if (context.paths.length === 0) throw new Setback(`I do not know which file “${ref}” is. Please name it.`);
    if (one && context.paths.length > 1)
      throw new Setback(`“${ref}” could be any of ${context.paths.slice(0, 5).join(", ")}. Please name one.`);
    return context.paths;
  });
  return [...new Set(paths)].slice(0, 20);
}

export function resolveOne(context: Context, refs: readonly string[]): string {
  const [path, ...more] = resolve(context, refs);
  if (path === undefined || more.length > 0) throw new Setback("I can do this to one file at a time. Please name one.");
  return path;
}

/** Text to write or to search for: as it stands, or the value of the step before for "it" and "the result". */
export function resolveText(context: Context, text: string): string {
  if (!/^(?:it|this|that|the (?:result|answer|output|number|contents?|list))$/i.test(text)) return unquote(text);
  if (context.value === undefined)
    throw new Setback(`I do not know what “${text}” is; no step before this one left a text.`);
  return context.value;
}
