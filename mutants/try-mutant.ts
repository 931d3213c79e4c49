/** Tries one mutant with the tests that execute it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTests } from "./run-tests.ts";
import type { Mutant } from "./sample.ts";
import { applySite } from "./sites.ts";
import type { MappedTest } from "./test-map.ts";
import type { Tree } from "./tree.ts";

export interface Verdict {
  readonly mutant: Mutant;
  readonly outcome: "killed" | "survived" | "busy" | "hung";
  /** The number of test files that execute the place, and how many of them were run. */
  readonly executing: number;
  readonly tried: number;
  /** The failed test, or the first file that did not end. */
  readonly by?: string;
}

export interface JudgeOptions {
  readonly sharesProcess: (test: string) => boolean;
  /**
   * The time limit of the tests for one mutant, in milliseconds. The best tests that fit are run.
   */
  readonly budgetMs: number;
  /**
   * A test that takes longer counts as hanging. `limitMs` is the same limit for a run of tests.
   * Both in milliseconds.
   */
  readonly testMs: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * The most time for files that share a process, in milliseconds. It is far below the limit, so that
 * only a hang reaches the limit.
 */
const BATCH_MS = 4000;

export async function tryMutant(
  tree: Tree,
  mutant: Mutant,
  tests: readonly MappedTest[],
  options: JudgeOptions,
): Promise<Verdict> {
  const { limitMs, testMs, signal, budgetMs, sharesProcess } = options;
  const path = join(tree.root, mutant.file);
  const source = readFileSync(path, "utf8");
  const chosen = affordable(tests, budgetMs);
  const verdict = { mutant, executing: tests.length };
  const queue = batchesOf(chosen, sharesProcess);
  let tried = 0;
  let hanging: { outcome: "busy" | "hung"; by: string } | undefined;
  writeFileSync(path, applySite(source, mutant));
  try {
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const { outcome, failure } = await runTests(tree, batch, { limitMs, testMs, signal });
      const [first = "", ...others] = batch;
      if ((outcome === "late" || outcome === "busy") && others.length > 0) {
        // A hanging file stops the others of its process, so each is retried alone.
        queue.unshift(...batch.map((file) => [file]));
        continue;
      }
      tried += batch.length;
      if (outcome === "failed")
        return { ...verdict, outcome: "killed", tried, by: failure ?? batch.join(" ") };
      if (outcome === "passed") continue;
      const isSecond = hanging !== undefined;
      hanging = { outcome: outcome === "busy" ? "busy" : "hung", by: first, ...hanging };
      // Other files might still fail, but two hangs take long enough.
      if (isSecond) break;
    }
    return { ...verdict, outcome: "survived", tried, ...hanging };
  } finally {
    writeFileSync(path, source);
  }
}

/**
 * Returns at least one test, and further ones while the time allows. A test that does not fit is
 * skipped.
 */
function affordable(tests: readonly MappedTest[], budgetMs: number): readonly MappedTest[] {
  let left = budgetMs;
  return tests.filter(({ ms }, at) => {
    const isTaken = ms <= left || at === 0;
    if (isTaken) left -= ms;
    return isTaken;
  });
}

function batchesOf(
  tests: readonly MappedTest[],
  sharesProcess: (test: string) => boolean,
): string[][] {
  const batches: { files: string[]; ms: number; isShared: boolean }[] = [];
  for (const { file, ms } of tests) {
    const isShared = sharesProcess(file);
    const last = batches.at(-1);
    if (isShared && last?.isShared === true && last.ms + ms <= BATCH_MS) {
      last.files.push(file);
      last.ms += ms;
    } else batches.push({ files: [file], ms, isShared });
  }
  return batches.map(({ files }) => files);
}
