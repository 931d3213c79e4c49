/** Finds the known name that a misspelt name probably means. */

/** Returns the most similar name; undefined if none is similar. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.slice(0, MAX_LENGTH).toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const isShortened = wanted.length >= 3 && name.toLowerCase().startsWith(wanted);
    const distance = isShortened ? 1 : distanceOf(wanted, name.toLowerCase());
    // A third of the letters may differ, or two swapped letters in a short name.
    if (distance > Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3))) continue;
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

/** Returns ` Did you mean X?`, or an empty text. */
export function didYouMean(
  given: string,
  known: readonly string[],
  show: (name: string) => string = (name) => JSON.stringify(name),
): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? "" : ` Did you mean ${show(nearest)}?`;
}

/** The number of letters to insert, delete, replace or swap with their neighbour. */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** Longer names are compared by their beginning. */
const MAX_LENGTH = 100;
