/** Maps the tests, then tries the mutants, in one tree per job. */
import type { Mutant } from "./sample.ts";
import { Hashes, mapTest, type MappedTest, type Project, testFiles, testsOf } from "./test-map.ts";
import { copyTree } from "./tree.ts";
import { type JudgeOptions, tryMutant, type Verdict } from "./try-mutant.ts";

interface AllOptions extends Omit<JudgeOptions, "sharesProcess"> {
  readonly jobs: number;
  readonly onMapped?: (test: MappedTest, done: number, total: number) => void;
  readonly onVerdict?: (verdict: Verdict) => void;
}

export async function tryAll(
  project: Project,
  mutants: readonly Mutant[],
  { jobs, onMapped, onVerdict, ...options }: AllOptions,
): Promise<Verdict[]> {
  const trees = Array.from({ length: jobs }, () => copyTree(project.root));
  const [first] = trees;
  if (first === undefined) return [];
  const { sharesProcess } = project;
  const { signal } = options;
  try {
    const files = testFiles(project, first).filter((file) =>
      mutants.some((mutant) => judges(project, mutant)(file)),
    );
    const hashes = new Hashes(first);
    let done = 0;
    const tests = await share(trees, files, async (tree, file) => {
      const test = await mapTest(project, tree, { file, hashes, signal });
      onMapped?.(test, ++done, files.length);
      return test;
    });
    return await share(trees, mutants, async (tree, mutant) => {
      const own = testsOf(
        tests.filter(({ file }) => judges(project, mutant)(file)),
        mutant,
      );
      const verdict = await tryMutant(tree, mutant, own, { ...options, sharesProcess });
      onVerdict?.(verdict);
      return verdict;
    });
  } finally {
    for (const tree of trees) tree.remove();
  }
}

/** Returns a filter for the tests of the mutant's folder. */
function judges({ packages }: Project, { file }: Mutant): (test: string) => boolean {
  const own = packages.filter(({ sources }) => file.startsWith(`${sources}/`));
  return (test) => own.some(({ tests }) => tests.some((folder) => test.startsWith(`${folder}/`)));
}

/** Distributes items: each worker takes the next one when it is free. */
async function share<Worker, Item, Result>(
  workers: readonly Worker[],
  items: readonly Item[],
  perform: (worker: Worker, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  await Promise.all(
    workers.map(async (worker) => {
      for (const [at, item] of queue) results[at] = await perform(worker, item);
    }),
  );
  return results;
}
