// npm test: each package's tests from source; fails if one suite fails. Arguments narrow the files: `npm test -- sse`.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

// Core patches nothing global, so its files share one process; the command's tests start processes and servers.
const suites = [
  { name: "core", files: "packages/core/test/**/*.test.ts", options: ["--test-isolation=none"] },
  { name: "bowline", files: "packages/bowline/test/**/*.test.ts", options: [] },
];
const options = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const words = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
let failed = false;
let ran = 0;

for (const suite of suites) {
  const files = globSync(suite.files)
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .toSorted();
  ran += files.length;
  if (files.length === 0) {
    console.log(`${suite.name}: no test file`);
    continue;
  }
  const { status } = spawnSync(
    process.execPath,
    ["--test", "--conditions=@bowline/source", ...suite.options, ...options, ...files],
    { stdio: "inherit" },
  );
  if (status !== 0) failed = true;
}
if (words.length > 0 && ran === 0) {
  console.error(`no test file matches ${words.join(" ")}`);
  failed = true;
}
process.exitCode = failed ? 1 : 0;
