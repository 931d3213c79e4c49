/** Converts V8's coverage reports to the executed parts of each source. */
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Alternating start and end offsets of the executed parts, by file path relative to the root. */
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
  /** All files below the root that a process loaded, without dependencies. */
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
  // An odd number of edges before the offset means that it is inside a part.
  return edges.filter((edge) => edge <= offset).length % 2 === 1;
}

export function lengthOf(edges: readonly number[]): number {
  return edges.reduce((sum, edge, at) => (at % 2 === 0 ? sum - edge : sum + edge), 0);
}

/** Returns an empty report for a truncated file, as a killed process may leave. */
function parse(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return { result: [] };
  }
}

/** Ranges are nested, and the innermost one counts. */
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
