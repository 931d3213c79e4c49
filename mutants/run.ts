// npm run mutants: breaks the source in one place at a time, and runs the tests that execute it.
// A mutant that no test kills shows a line without a test.
//   -- agent session        only files whose path contains one of these words
//   --count=400             number of mutants, spread evenly over the folders
//   --seed=1                seed of the sample; the same seed draws the same mutants
//   --jobs=1                concurrent mutants
//   --seconds=20            time limit of the tests for one mutant
//   --at-least=90           exit with 1 if a smaller percentage of the mutants is killed
//   --json                  print a line of JSON for each mutant and each folder
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { startsProcesses } from "../scripts/test-processes.ts";
import { count, countByFolder, percentOf, printReport } from "./report.ts";
import { mutantsOf, sample } from "./sample.ts";
import type { Project } from "./test-map.ts";
import { tryAll } from "./try-all.ts";
import type { Verdict } from "./try-mutant.ts";

/** A longer run of tests counts as hanging. Without a mutant it takes at most 10 s. */
const LIMIT_MS = 25_000;
/** A longer test counts as hanging. */
const TEST_MS = 12_000;
/** The tests stop waiting and fail after this time, before they count as hanging. */
const PATIENCE_MS = 10_000;

const root = new URL("..", import.meta.url).pathname;
const project: Project = {
  root,
  cache: `${root}node_modules/.cache/mutants`,
  packages: [
    {
      sources: "packages/core/src",
      tests: [
        "packages/core/test",
        "conformance/test",
        "mutate/test",
        "packages/compat/test",
        "packages/restate/test",
        "packages/bowline/test",
      ],
    },
    {
      sources: "packages/bowline/src/gateway",
      // The cluster is made of the gateway's parts, and uses some that a single process does not.
      tests: ["packages/bowline/test", "packages/cluster/test"],
    },
  ],
  sharesProcess: (test) => !startsProcesses.test(test),
};

/** The tests run in a copy of the checkout, which has no recordings next to it. */
process.env["BOWLINE_RECORDINGS"] ??= resolve(root, "../shared/recordings");
process.env["BOWLINE_PATIENCE_MS"] = String(PATIENCE_MS);

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "1" },
    seconds: { type: "string", default: "20" },
    "at-least": { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});
const numbers = [values.count, values.seed, values.jobs, values.seconds, values["at-least"]];
if (numbers.map(Number).some((number) => !Number.isInteger(number) || number < 0)) {
  console.error("mutants/run.ts [--count=N] [--seed=N] [--jobs=N] [--seconds=N] [--at-least=N]");
  process.exit(2);
}
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
try {
  process.exitCode = await main();
} catch (error) {
  if (!interrupt.signal.aborted) throw error;
  process.exitCode = 130;
}

async function main(): Promise<number> {
  const files = project.packages
    .flatMap(({ sources }) => globSync(`${sources}/**/*.ts`, { cwd: root }))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const all = files.toSorted().flatMap((file) => mutantsOf(root, file));
  const chosen = sample(all, Number(values.count), Number(values.seed));
  const progress = { tried: 0, left: 0 };
  const verdicts = await tryAll(project, chosen, {
    jobs: Math.max(1, Number(values.jobs)),
    budgetMs: Number(values.seconds) * 1000,
    limitMs: LIMIT_MS,
    testMs: TEST_MS,
    signal: interrupt.signal,
    onMapped: ({ file, outcome }, done, total) => {
      show(`${done} of ${total} test files mapped`);
      if (outcome !== "passed") show(`${file} judges no mutant: ${outcome}\n`);
    },
    onVerdict: (verdict) => {
      progress.tried += 1;
      if (verdict.outcome !== "killed") progress.left += 1;
      show(`${progress.tried} of ${chosen.length} mutants, ${progress.left} not killed`);
      if (values.json) printJson(verdict);
    },
  });
  show("\n");
  const total = count("all", verdicts);
  if (values.json) for (const row of [...countByFolder(verdicts), total]) printLine("folder", row);
  else printReport(verdicts, console.log);
  return percentOf(total) >= Number(values["at-least"]) ? 0 : 1;
}

/** Overwrites the current line. A text with a line feed at its end stays. */
function show(text: string): void {
  process.stderr.write(`\r\u001B[K${text}`);
}

function printJson({ mutant, ...rest }: Verdict): void {
  const { file, line, original, replacement } = mutant;
  printLine("mutant", { file, line, original, replacement, ...rest });
}

function printLine(type: string, fields: object): void {
  console.log(JSON.stringify({ type, ...fields }));
}
