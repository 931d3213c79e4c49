/**
 * The direction of imports inside packages/core/src, written once: lint (oxlint.config.ts) reads it
 * for source files, test/layers.test.ts for the built ones. A layer is a folder, or a file beside
 * index.ts.
 */
const bottom = [
  "errors",
  "infer-schema",
  "json-value",
  "schema-links",
  "json-schema",
  "schema",
  "clock",
] as const;

/** What each layer may import besides itself. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  errors: bottom,
  "infer-schema": bottom,
  "json-value": bottom,
  "schema-links": bottom,
  "json-schema": bottom,
  schema: bottom,
  clock: bottom,
  transport: bottom,
  llm: [...bottom, "transport"],
  providers: [...bottom, "transport", "llm"],
  agent: [...bottom, "llm"],
  session: [...bottom, "llm", "agent"],
  compat: [...bottom, "llm", "providers", "agent"],
  // An entry of its own, for what it needs of others.
  prices: [...bottom, "llm"],
  // The main entry is the one place where agent and providers meet.
  index: [...bottom, "transport", "llm", "providers", "agent", "session"],
  testing: [...bottom, "transport", "llm", "providers", "agent", "session", "compat", "index"],
};

/** The layers that are files: they stand beside index.ts, the others are folders. */
export const fileLayers: readonly string[] = [...bottom, "prices", "index"];

/** A file's imports, as written, by its path below the root of the graph. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export interface GraphRules {
  readonly layers: Readonly<Record<string, readonly string[]>>;
  /** Packages that may be imported. */
  readonly dependencies: readonly string[];
}

/** Every breach of the rules in a graph of built files, as a sentence. */
export function findViolations(graph: ImportGraph, rules: GraphRules): string[] {
  const violations: string[] = [];
  for (const [file, specifiers] of graph) {
    const from = layerOf(file);
    const allowed = rules.layers[from];
    if (allowed === undefined) {
      violations.push(`${file} belongs to no layer: name it in scripts/layers.ts`);
      continue;
    }
    for (const specifier of specifiers) {
      const target = resolveRelative(file, specifier);
      if (specifier.startsWith("node:")) {
        if (!isNodeFile(file))
          violations.push(`${file} imports ${specifier} outside a folder named node/`);
      } else if (target === undefined) {
        const name = packageName(specifier);
        if (!rules.dependencies.includes(name))
          violations.push(`${file} imports ${name}, which is no dependency`);
      } else if (!graph.has(target)) {
        violations.push(`${file} imports ${specifier}, which was not built`);
      } else {
        const to = layerOf(target);
        if (to !== from && !allowed.includes(to))
          violations.push(`${file} (${from}) imports ${target} (${to})`);
      }
    }
  }
  return violations;
}

/** The `node:` imports that can be reached from one file, as `file: specifier`. */
export function reachableNodeImports(graph: ImportGraph, entry: string): string[] {
  const found: string[] = [];
  const seen = new Set([entry]);
  for (const file of seen) {
    for (const specifier of graph.get(file) ?? []) {
      if (specifier.startsWith("node:")) found.push(`${file}: ${specifier}`);
      const target = resolveRelative(file, specifier);
      if (target !== undefined) seen.add(target);
    }
  }
  return found;
}

/**
 * The module specifiers of a built file: static imports, re-exports and `import()` of a literal.
 */
export function importsOf(code: string): string[] {
  const lines = code.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  const text = lines.join("\n");
  const literal = [
    ...text.matchAll(/^\s*(?:import|export)\s*(?:[\w\s{},*$]*?\bfrom\s*)?["']([^"']+)["']/gm),
    ...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g),
  ].map((match) => match[1] ?? "");
  // A computed import hides an edge of the graph; it shows up as a package nobody declared.
  const computed = [...text.matchAll(/\bimport\((?!\s*["'])/g)].map(() => "(computed)");
  return [...literal, ...computed];
}

export function isNodeFile(file: string): boolean {
  return file.split("/").slice(0, -1).includes("node");
}

function layerOf(file: string): string {
  return (file.split("/")[0] ?? "").replace(/\.js$/, "");
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function resolveRelative(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return new URL(specifier, `file:///${file}`).pathname.slice(1);
}
