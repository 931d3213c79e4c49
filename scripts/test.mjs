// npm test: runs each package's tests from source, and fails if one suite fails. Arguments select
// files: `npm test -- sse`. Browser tests take another minute, so only `npm test -- browser` and
// `npm run check` run them. `--sweeps` takes the files with random tests that are short otherwise,
// and runs the whole sweeps: test/support/sweep.ts.
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { resolve } from "node:path";
import { bundleCommand } from "../test/support/bundle.ts";
import { startsProcesses } from "./test-processes.ts";

/** A longer test counts as hanging, even on a busy machine. The runner names it. */
const TEST_MS = 10 * 60_000;
/**
 * A longer suite counts as hanging. Its tests may have ended while something keeps its process
 * alive.
 */
const SUITE_MS = 30 * 60_000;
const suites = [
  {
    name: "core and compat",
    isOwn: (file) => !startsProcesses.test(file) && !file.startsWith("packages/bowline/"),
    options: ["--test-isolation=none"],
  },
  {
    name: "gateway and screen",
    isOwn: (file) => !startsProcesses.test(file) && file.startsWith("packages/bowline/"),
    options: ["--test-isolation=none"],
  },
  {
    name: "processes",
    isOwn: (file) => startsProcesses.test(file) && !file.startsWith("packages/bowline/"),
    options: ["--test-concurrency=1"],
  },
  {
    name: "the command",
    isOwn: (file) => startsProcesses.test(file) && file.startsWith("packages/bowline/"),
    options: ["--test-concurrency=2"],
  },
];
const isSweeps = process.argv.includes("--sweeps");
const given = process.argv.slice(2).filter((argument) => argument !== "--sweeps");
const options = given.filter((argument) => argument.startsWith("-"));
const words = given.filter((argument) => !argument.startsWith("-"));
const files = globSync([
  "packages/*/test/**/*.test.ts",
  "{conformance,mutate,mutants}/test/*.test.ts",
  "cluster/drill/test/*.test.ts",
])
  .filter((file) =>
    words.length === 0 ? !file.includes("/browser/") : words.some((word) => file.includes(word)),
  )
  .filter((file) => !isSweeps || /\bsweep\(/.test(readFileSync(file, "utf8")))
  .toSorted();
if (files.length === 0) {
  console.error(`no test file${isSweeps ? " with a sweep" : ""} matches ${words.join(" ")}`);
  process.exit(1);
}
const command = await bundleCommand();
const failed = await Promise.all(suites.map((suite, index) => run(suite, index === 0)));
process.exitCode = failed.includes(true) ? 1 : 0;

/** Runs one suite. The output of the first is shown live, that of the other at its end. */
async function run({ name, isOwn, options: own }, isShown) {
  const chosen = files.filter(isOwn);
  if (chosen.length === 0) return false;
  const limits = [`--test-timeout=${TEST_MS}`];
  const args = ["--test", "--conditions=@bowline/source", ...limits, ...own, ...options, ...chosen];
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      ...(isSweeps && { BOWLINE_SWEEPS: "long" }),
      NODE_COMPILE_CACHE: resolve("node_modules/.cache/tests"),
      BOWLINE_TEST_COMMAND: command,
    },
    stdio: ["ignore", isShown ? "inherit" : "pipe", "inherit"],
  });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => (output += text));
  // On SIGTERM the runner names the current test.
  const limit = setTimeout(() => child.kill("SIGTERM"), SUITE_MS);
  const [status] = await once(child, "close");
  clearTimeout(limit);
  if (!isShown) console.log(`\n${name}:\n${output}`);
  return status !== 0;
}
