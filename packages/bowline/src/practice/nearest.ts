/** Collects the words of the grammar and finds the form nearest to a sentence. */
import { forms } from "./forms.ts";
import { toPhrase, toWords, withoutQuotes } from "./phrase.ts";

/** A word of a wording counts only if at most this many forms have it. EMPTY words never count. */
const COMMON = 3;
const EMPTY = new Set(
  toWords("the is in are how many what which does of for or and with you can do"),
);

const wordsOfForms = Object.entries(forms).map(([name, { example, wordings }]) => {
  // Named groups and escapes are notation, not words. "files?" stands for two words.
  const text = wordings.join(" ").replaceAll(/<\w+:?|\\\w|\(\?\S/g, " ");
  const all = `${text} ${text.replaceAll(/\w\?/g, "")} ${text.replaceAll("?", "")}`;
  return { example, own: toWords(`${name} ${example}`), words: new Set(toWords(all)) };
});

/** The words of all wordings, in lower case. */
export const knownWords: ReadonlySet<string> = new Set(
  wordsOfForms.flatMap(({ words }) => [...words]),
);

/**
 * Returns the example of the form that shares most words with the phrase. Words of the form's name
 * and example count double. Undefined if no word counts.
 */
export function nearestExample(phrase: string): string | undefined {
  const said = toWords(withoutQuotes(toPhrase(phrase))).filter((word) => !EMPTY.has(word));
  const isRare = (word: string): boolean =>
    wordsOfForms.filter(({ words }) => words.has(word)).length <= COMMON;
  const scored = wordsOfForms.map(({ example, own, words }) => {
    const shared = said.filter((word) => own.includes(word));
    const rare = said.filter((word) => words.has(word) && isRare(word));
    return { example, score: 2 * shared.length + rare.length };
  });
  const [best] = scored.toSorted((a, b) => b.score - a.score);
  return best?.score === 0 ? undefined : best?.example;
}
