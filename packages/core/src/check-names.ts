/** Refuses unknown names, with the most similar known one. */
import { BowlineError } from "./errors.ts";

/**
 * Throws `invalid_argument` for a name in `given` that is not in `known`. The message suggests the
 * most similar known name. Names with an undefined value are ignored. `kind` is the noun for a name
 * in the message. Default "option".
 */
export function checkNames(given: object, known: readonly string[], kind = "option"): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue;
    const [nearest] = known.toSorted((a, b) => likeness(name, b) - likeness(name, a));
    const hint = nearest === undefined ? "There are none." : `Did you mean "${nearest}"?`;
    throw new BowlineError("invalid_argument", `Unknown ${kind} "${name}". ${hint}`);
  }
}

/**
 * Returns the similarity of two names, from 0 to 1, by the adjacent pairs of letters that they
 * share.
 */
function likeness(name: string, known: string): number {
  const [one = [], other = []] = [name, known].map((text) =>
    Array.from(text.toLowerCase(), (letter, at) => letter + text.charAt(at + 1).toLowerCase()),
  );
  return (2 * one.filter((pair) => other.includes(pair)).length) / (one.length + other.length);
}
