/** Maps tests to the parts of the sources that they execute. The map is cached. */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Executed, isExecuted, lengthOf, readCoverage } from "./executed.ts";
import { type Outcome, runTests } from "./run-tests.ts";
import type { Tree } from "./tree.ts";

/** A folder of sources and the folders of its tests, the most relevant one first. */
interface Judged {
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

/** Slower test files are not used, since they would take this long for each mutant. */
const SLOW_MS = 10_000;

/**
 * The surroundings of a place that are compared with a test's coverage, and the distance between
 * the compared offsets, in characters.
 */
const AROUND = 500;
const STEP = 20;

export function testFiles({ packages }: Project, { root }: Tree): string[] {
  const patterns = packages.flatMap(({ tests }) => tests.map((folder) => `${folder}/**/*.test.ts`));
  // Browser tests are excluded, as in `npm test`.
  return globSync(patterns, { cwd: root, exclude: ["**/browser/**"] }).toSorted();
}

/** Caches the hashes of the files of one tree. The tree must not change. */
export class Hashes {
  readonly #root: string;
  readonly #known = new Map<string, string>();
  #all: string | undefined;

  constructor({ root }: Tree) {
    this.#root = root;
  }

  /** The hash of the files that any test may read: dependencies and data. */
  get all(): string {
    this.#all ??= this.of(
      globSync("{package-lock.json,packages/**/*.json}", {
        cwd: this.#root,
        exclude: ["**/node_modules/**", "**/dist/**"],
      }).toSorted(),
    );
    return this.#all;
  }

  of(files: readonly string[]): string {
    return digest(files.map((file) => `${file}\0${this.#one(file)}`).join("\0"));
  }

  #one(file: string): string {
    const path = join(this.#root, file);
    const hash = this.#known.get(file) ?? (existsSync(path) ? digest(readFileSync(path)) : "");
    this.#known.set(file, hash);
    return hash;
  }
}

/** A cached map is stale if a file that the test loaded has changed. */
interface Cached {
  readonly hash: string;
  readonly loaded: readonly string[];
  readonly test: MappedTest;
}

/** Returns the map of a test file, from the cache or by running the file once. */
export async function mapTest(
  project: Project,
  tree: Tree,
  { file, hashes, signal }: { file: string; hashes: Hashes; signal: AbortSignal },
): Promise<MappedTest> {
  const path = join(project.cache, `${file.replaceAll("/", "+")}.json`);
  const cached = readCache(path);
  if (cached?.hash === hashes.all + hashes.of(cached?.loaded ?? [])) return cached.test;
  const coverage = join(tree.scratch, "../coverage");
  rmSync(coverage, { recursive: true, force: true });
  mkdirSync(coverage);
  const env = { NODE_V8_COVERAGE: coverage };
  const { outcome, ms } = await runTests(tree, [file], { limitMs: SLOW_MS, signal, env });
  const isWanted = (name: string): boolean =>
    project.packages.some(({ sources }) => name.startsWith(`${sources}/`));
  const { executed, loaded } =
    outcome === "passed"
      ? readCoverage(coverage, tree.root, isWanted)
      : { executed: {}, loaded: [file, ...sourcesOf(tree)] };
  const test: MappedTest = { file, outcome, ms, executed };
  const made: Cached = { hash: hashes.all + hashes.of(loaded), loaded, test };
  mkdirSync(project.cache, { recursive: true });
  writeFileSync(path, JSON.stringify(made));
  return test;
}

/**
 * Returns the tests that execute the place, alternating between two orders. One prefers tests that
 * execute much of the file in little time. The other prefers tests that execute rarely covered code
 * around the place, such as the branch of a condition.
 */
export function testsOf(
  tests: readonly MappedTest[],
  { file, start, end }: { file: string; start: number; end: number },
): MappedTest[] {
  const executing = tests
    .map((test) => ({ test, edges: test.executed[file] ?? [] }))
    .filter(({ edges }) => isExecuted(edges, start));
  const rarity = new Map(executing.map(({ test }) => [test, 0]));
  for (let at = start - AROUND; at <= end + AROUND; at += STEP) {
    const there = executing.filter(({ edges }) => isExecuted(edges, at));
    for (const { test } of there) rarity.set(test, (rarity.get(test) ?? 0) + 1 / there.length);
  }
  const ranked = (worth: (one: { test: MappedTest; edges: readonly number[] }) => number) =>
    executing
      .map((one) => ({ test: one.test, value: worth(one) }))
      .toSorted((a, b) => b.value - a.value)
      .map(({ test }) => test);
  const cheapest = ranked(({ test, edges }) => lengthOf(edges) / test.ms);
  const rarest = ranked(({ test }) => (rarity.get(test) ?? 0) / Math.log(test.ms + 2));
  return [...new Set(cheapest.flatMap((test, at) => [test, rarest[at] ?? test]))];
}

/** Returns all sources. A test that fails or takes too long may have loaded any of them. */
function sourcesOf({ root }: Tree): string[] {
  const files = globSync("{packages,test,conformance,mutate}/**/*.{ts,mts,js,mjs}", {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.test.ts"],
  });
  return files.toSorted();
}

function readCache(path: string): Cached | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Cached;
  } catch {
    return undefined;
  }
}

function digest(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
