/** Finds names that contain the letters of a query in their order, the best ones first. */

/** A name and its form for comparisons, made once. */
export interface Candidate {
  readonly name: string;
  readonly lower: string;
  /** The index after the last slash but one: where the file's or folder's own name begins. */
  readonly base: number;
}

export interface Ranked {
  readonly names: readonly string[];
  /** The number of all matches. */
  readonly total: number;
}

export function candidate(name: string): Candidate {
  return { name, lower: name.toLowerCase(), base: name.lastIndexOf("/", name.length - 2) + 1 };
}

/** Ignores case. Equal names of rank are ordered by length, then as given. */
export function rank(query: string, candidates: Iterable<Candidate>, limit: number): Ranked {
  const wanted = query.toLowerCase();
  const best: { readonly name: string; readonly score: number }[] = [];
  let total = 0;
  for (const item of candidates) {
    const score = scoreOf(wanted, item);
    if (score === undefined) continue;
    total++;
    if (best.length === limit && score <= (best.at(-1)?.score ?? 0)) continue;
    let place = best.length;
    while (place > 0 && (best[place - 1]?.score ?? 0) < score) place--;
    best.splice(place, 0, { name: item.name, score });
    if (best.length > limit) best.pop();
  }
  return { names: best.map(({ name }) => name), total };
}

/** Higher is better. Undefined if the query does not match. */
function scoreOf(wanted: string, { lower, base }: Candidate): number | undefined {
  const length = lower.length / 1000;
  if (wanted === "") return -length;
  const inBase = lower.indexOf(wanted, base);
  if (inBase === base) return 900 - length;
  if (inBase !== -1) return (isWordStart(lower, inBase) ? 800 : 700) - length;
  const inPath = lower.indexOf(wanted);
  if (inPath !== -1) return (isWordStart(lower, inPath) ? 600 : 500) - length;
  return scattered(wanted, lower, base, length);
}

/** Matches from the end, since the end of a path says most. Letters in a row count more. */
function scattered(
  wanted: string,
  lower: string,
  base: number,
  length: number,
): number | undefined {
  let score = 0;
  let last = lower.length;
  for (let index = wanted.length - 1; index >= 0; index--) {
    const found = last === 0 ? -1 : lower.lastIndexOf(wanted.charAt(index), last - 1);
    if (found === -1) return undefined;
    if (found === last - 1) score += 5;
    if (isWordStart(lower, found)) score += 4;
    if (found >= base) score += 1;
    last = found;
  }
  return score - length;
}

function isWordStart(text: string, index: number): boolean {
  return index === 0 || /[/._\- ]/.test(text.charAt(index - 1));
}
