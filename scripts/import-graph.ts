/** Reads the imports between the files of a folder, including types, and checks them. */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { PackageRules } from "./layers.ts";

/** The imports of each file, as written, by its path relative to the root of the graph. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Reads the files of a folder that end in `.ts` or `.js`, without declaration files. */
export function readGraph(folder: string, ending: "ts" | "js"): ImportGraph {
  const files = globSync(`**/*.${ending}`, { cwd: folder }).filter(
    (file) => !file.endsWith(".d.ts"),
  );
  return new Map(
    files
      .map((file) => file.replaceAll("\\", "/"))
      .toSorted()
      .map((file) => [file, importsOf(readFileSync(join(folder, file), "utf8"))]),
  );
}

/**
 * Returns the module specifiers of a file: static imports, re-exports and `import()` of a literal.
 */
export function importsOf(code: string): string[] {
  const lines = code.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  const text = lines.join("\n");
  const literal = [
    ...text.matchAll(/^\s*(?:import|export)\s*(?:[\w\s{},*$]*?\bfrom\s*)?["']([^"']+)["']/gm),
    ...text.matchAll(/\bimport\((?:__rewriteRelativeImportExtension\()?\s*["']([^"']+)["']/g),
  ].map((match) => match[1] ?? "");
  // A computed import hides an edge of the graph. It is reported as an undeclared package.
  // The compiler wraps a text that it must not resolve; that is no computed one.
  const computed = [
    ...text.matchAll(/\bimport\((?!(?:__rewriteRelativeImportExtension\()?\s*["'])/g),
  ].map(() => "(computed)");
  return [...literal, ...computed];
}

/** Returns a sentence for each violation of a package's rules. */
export function findViolations(
  graph: ImportGraph,
  rules: PackageRules,
  dependencies: readonly string[],
): string[] {
  const violations: string[] = [];
  for (const [file, specifiers] of graph) {
    const from = layerOf(file, rules);
    if (from === undefined) {
      violations.push(`${file} belongs to no layer: name it in scripts/layers.ts`);
      continue;
    }
    for (const specifier of specifiers) {
      const problem = problemOf(file, from, specifier);
      if (problem !== undefined) violations.push(`${file} (${from}) imports ${problem}`);
    }
  }
  return violations;

  function problemOf(file: string, from: string, specifier: string): string | undefined {
    const target = resolveRelative(file, specifier);
    if (specifier.startsWith("node:"))
      return rules.isWebOnly && !isNodeFile(file)
        ? `${specifier} outside a folder named node/`
        : undefined;
    if (target === undefined) {
      const name = packageName(specifier);
      const isKnown = dependencies.includes(name) || rules.loads?.includes(name) === true;
      return isKnown ? undefined : `${name}, which is no dependency`;
    }
    if (!graph.has(target)) return `${specifier}, which is not there`;
    const to = layerOf(target, rules);
    const isAllowed = to === from || (to !== undefined && rules.layers[from]?.includes(to));
    return isAllowed ? undefined : `${target} (${to})`;
  }
}

/** Returns the layer of a file: of those that contain it, the one with the longest name. */
export function layerOf(file: string, { layers }: PackageRules): string | undefined {
  const name = file.replace(/\.[jt]s$/, "");
  return Object.keys(layers)
    .filter((layer) => name === layer || file.startsWith(`${layer}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** Returns the `node:` imports that are reachable from a file, as `file: specifier`. */
export function reachableNodeImports(graph: ImportGraph, entry: string): string[] {
  return [...reachable(graph, entry)].flatMap((file) =>
    (graph.get(file) ?? [])
      .filter((specifier) => specifier.startsWith("node:"))
      .map((specifier) => `${file}: ${specifier}`),
  );
}

/** Returns the files that are reachable from a file, including itself. */
export function reachable(graph: ImportGraph, entry: string): ReadonlySet<string> {
  const seen = new Set([entry]);
  for (const file of seen)
    for (const specifier of graph.get(file) ?? []) {
      const target = resolveRelative(file, specifier);
      if (target !== undefined) seen.add(target);
    }
  return seen;
}

export function isNodeFile(file: string): boolean {
  return file.split("/").slice(0, -1).includes("node");
}

export function resolveRelative(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return posix.join(posix.dirname(file), specifier);
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
