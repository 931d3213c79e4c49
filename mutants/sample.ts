/** Draws a sample of all mutants, spread evenly over the folders. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Random } from "../mutate/random.ts";
import { findSites, type Site } from "./sites.ts";

export interface Mutant extends Site {
  /** Relative to the root, with slashes. */
  readonly file: string;
  readonly line: number;
  /** The text that is replaced. */
  readonly original: string;
}

export function mutantsOf(root: string, file: string): Mutant[] {
  const source = readFileSync(join(root, file), "utf8");
  return findSites(file, source).map((site) => ({
    ...site,
    file,
    line: source.slice(0, site.start).split("\n").length,
    original: source.slice(site.start, site.end),
  }));
}

/**
 * Takes `count` mutants, one from each folder in turn. The order within a folder depends only on
 * the seed. So a run over some folders tries the same mutants as a run over all.
 */
export function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const folders = [...Map.groupBy(mutants, ({ file }) => dirname(file))].map(([folder, own]) =>
    shuffle(own, new Random(`${seed}:${folder}`)),
  );
  const longest = Math.max(0, ...folders.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, at) =>
    folders.flatMap((own) => own[at] ?? []),
  );
  return inTurn.flat().slice(0, count);
}

function shuffle<T>(values: readonly T[], random: Random): T[] {
  const keyed = values.map((value) => ({ value, key: random.below(2 ** 31) }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value);
}
