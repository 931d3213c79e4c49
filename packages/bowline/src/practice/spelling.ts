/** Corrects typing errors in words that the grammar knows. */
import { withoutQuotes } from "./phrase.ts";

/** Minimum length of a correction, because too many shorter words differ by one letter. */
const SHORTEST = 4;

/**
 * Corrects each unknown word that differs from a known word by one letter or one swapped pair. Does
 * not change names with a full stop or a slash, quoted texts, or words near to several known words.
 */
export function mendWords(phrase: string, known: ReadonlySet<string>): string {
  const words = [...known].filter((word) => word.length >= SHORTEST);
  return phrase.replaceAll(/(?<![^\s])[a-z]{3,}(?=[\s,!?]|$)/gi, (word) => {
    const typed = word.toLowerCase();
    if (known.has(typed) || withoutQuotes(word) !== word) return word;
    const slips = words.filter((each) => isSlip(typed, each));
    // A missing, extra or swapped letter is likelier than a wrong one.
    const likely = slips.filter((each) => each.length !== typed.length || isSwap(typed, each));
    const [near, ...others] = likely.length > 0 ? likely : slips;
    return near === undefined || others.length > 0 ? word : near;
  });
}

function sorted(word: string): string {
  return word.split("").toSorted().join("");
}

function isSwap(typed: string, word: string): boolean {
  return sorted(typed) === sorted(word);
}

/** Returns true if one letter was added, left out or replaced, or two neighbours were swapped. */
function isSlip(typed: string, word: string): boolean {
  if (Math.abs(typed.length - word.length) > 1) return false;
  let at = 0;
  while (at < word.length && typed[at] === word[at]) at++;
  const [restTyped, rest] = [typed.slice(at), word.slice(at)];
  if (typed.length < word.length) return restTyped === rest.slice(1);
  if (typed.length > word.length) return restTyped.slice(1) === rest;
  const [a = "", b = ""] = restTyped;
  return restTyped.slice(1) === rest.slice(1) || b + a + restTyped.slice(2) === rest;
}
