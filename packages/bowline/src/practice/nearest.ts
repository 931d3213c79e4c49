/** The words of the grammar, and the form that shares most of them with a sentence. */
import { forms } from "./forms.ts";
import { toPhrase, toWords, withoutQuotes } from "./phrase.ts";

/** Words in so many forms say nothing of what was meant. */
const COMMON = 3;

const wordsOfForms = Object.values(forms).map(({ example, wordings }) => {
  // Named groups and escapes are notation, not words.
  const text = wordings.join(" ").replaceAll(/<\w+:?|\\\w|\(\?\S/g, " ");
  return { example, words: new Set(toWords(`${text} ${text.replaceAll(/(\w)s\?/g, "$1")} ${text.replaceAll("?", "")}`)) };
});

/** Every word that a wording has. */
export const knownWords: ReadonlySet<string> = new Set(
  wordsOfForms.flatMap(({ words }) => [...words]),
);

/** The example of the form with most of the rarer words, if there is one with any. */
export function nearestExample(phrase: string): string | undefined {
  const said = new Set(toWords(withoutQuotes(toPhrase(phrase))));
  const rare = [...said].filter((word) => {
    const count = wordsOfForms.filter(({ words }) => words.has(word)).length;
    return count > 0 && count <= COMMON;
  });
  const scored = wordsOfForms.flatMap(({ example, words }) =>
    example === undefined ? [] : [{ example, score: rare.filter((word) => words.has(word)).length }],
  );
  const [best] = scored.toSorted((a, b) => b.score - a.score);
  return best === undefined || best.score === 0 ? undefined : best.example;
}
