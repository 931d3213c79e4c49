/** Which tests execute which parts of the sources, found out once and cached. */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Executed, isExecuted, lengthOf, readExecuted } from "./executed.ts";
import { type Outcome, runTests } from "./run-tests.ts";
import type { Tree } from "./tree.ts";

/** A folder of sources, and the folders of the tests that judge them, the most relevant one first. */
export interface Judged {
  readonly sources: string;
  readonly tests: readonly string[];
}

export interface Project {
  readonly root: string;
  readonly cache: string;
  /** The folders of sources that are mutated. */
  readonly packages: readonly Judged[];
  /** Whether a test file can share a process with others. */
  readonly sharesProcess: (test: string) => boolean;
}

export interface MappedTest {
  readonly file: string;
  readonly outcome: Outcome;
  readonly ms: number;
  readonly executed: Executed;
}

/** A test file that takes longer judges no mutant: it would take as long for each. */
const SLOW_MS = 10_000;

export function testFiles({ packages }: Project, { root }: Tree): string[] {
  const patterns = packages.flatMap(({ tests }) => tests.map((folder) => `${folder}/**/*.test.ts`));
  // As in `npm test`, a browser is not started.
  return globSync(patterns, { cwd: root, exclude: ["**/browser/**"] }).toSorted();
}

/** Hashes what all tests depend on. Another test file does not make the map stale. */
export function hashOfAll({ root }: Tree): string {
  const files = globSync("{package-lock.json,packages/**/*.{ts,js,mjs,json}}", {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.test.ts"],
  }).toSorted();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** From the cache, or by running the test file once. */
export async function mapTest(
  project: Project,
  tree: Tree,
  { file, hash, signal }: { file: string; hash: string; signal: AbortSignal },
): Promise<MappedTest> {
  const own = readFileSync(join(tree.root, file));
  const key = createHash("sha256").update(hash).update(own).digest("hex");
  const path = join(project.cache, `${file.replaceAll("/", "+")}.json`);
  const cached = readCache(path);
  if (cached?.key === key) return cached.test;
  const coverage = join(tree.scratch, "../coverage");
  rmSync(coverage, { recursive: true, force: true });
  mkdirSync(coverage);
  const env = { NODE_V8_COVERAGE: coverage };
  const { outcome, ms } = await runTests(tree, [file], { limitMs: SLOW_MS, signal, env });
  const isWanted = (name: string): boolean =>
    project.packages.some(({ sources }) => name.startsWith(`${sources}/`));
  const executed = outcome === "passed" ? readExecuted(coverage, tree.root, isWanted) : {};
  const test: MappedTest = { file, outcome, ms, executed };
  mkdirSync(project.cache, { recursive: true });
  writeFileSync(path, JSON.stringify({ key, test }));
  return test;
}

/** The tests that execute the place, those first which execute much of the file in little time. */
export function testsOf(
  tests: readonly MappedTest[],
  { file, start }: { file: string; start: number },
): MappedTest[] {
  const worth = ({ executed, ms }: MappedTest): number => lengthOf(executed[file] ?? []) / ms;
  return tests
    .filter(({ executed }) => isExecuted(executed[file] ?? [], start))
    .toSorted((a, b) => worth(b) - worth(a));
}

function readCache(path: string): { key: string; test: MappedTest } | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { key: string; test: MappedTest };
  } catch {
    return undefined;
  }
}
