/** V8's coverage as the parts of each source that were executed. */
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** By file, relative to the root: offsets where an executed part starts, ends, starts… */
export type Executed = Readonly<Record<string, readonly number[]>>;

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

export interface Coverage {
  readonly executed: Executed;
  /** Every file below the root that a process loaded, apart from dependencies. */
  readonly loaded: readonly string[];
}

/** Joins the reports of all processes. `isWanted` takes a path relative to the root. */
export function readCoverage(
  folder: string,
  root: string,
  isWanted: (file: string) => boolean,
): Coverage {
  const loaded = new Set<string>();
  const painted = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of parse(join(folder, name)).result) {
      if (!url.startsWith("file:")) continue;
      const file = relative(root, fileURLToPath(url)).replaceAll(sep, "/");
      if (!file.startsWith("../") && !file.includes("node_modules/")) loaded.add(file);
      if (!isWanted(file)) continue;
      const parts = paint(functions.flatMap(({ ranges }) => ranges));
      const before = painted.get(file);
      before?.forEach((value, at) => (parts[at] ||= value));
      painted.set(file, parts);
    }
  }
  const executed = Object.fromEntries(
    [...painted].map(([file, parts]) => [file, edgesOf(parts)] as const),
  );
  return { executed, loaded: [...loaded].toSorted() };
}

export function isExecuted(edges: readonly number[], offset: number): boolean {
  // The edges before the offset: of an odd number the last is a start.
  return edges.filter((edge) => edge <= offset).length % 2 === 1;
}

export function lengthOf(edges: readonly number[]): number {
  return edges.reduce((sum, edge, at) => (at % 2 === 0 ? sum - edge : sum + edge), 0);
}

/** A process that was killed may have written half of a report. */
function parse(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return { result: [] };
  }
}

/** Ranges lie in each other, and the innermost one counts. */
function paint(ranges: readonly Range[]): Uint8Array {
  const parts = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  const outerFirst = ranges.toSorted(
    (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset,
  );
  for (const { startOffset, endOffset, count } of outerFirst)
    parts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return parts;
}

function edgesOf(parts: Uint8Array): number[] {
  const edges: number[] = [];
  for (let at = 0; at <= parts.length; at++)
    if ((parts[at] ?? 0) !== (parts[at - 1] ?? 0)) edges.push(at);
  return edges;
}
