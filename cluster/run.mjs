// npm run cluster:test: runs agents on real Restate, PostgreSQL and NATS servers, and kills them.
// Words select files, and options are those of the test runner:
// `npm run cluster:test -- kills --test-name-pattern=approval`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";

const TEST_MS = 10 * 60_000;
const given = process.argv.slice(2);
const words = given.filter((word) => !word.startsWith("-"));
const files = globSync(join(import.meta.dirname, "test/*.test.ts"))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .toSorted();
if (files.length === 0) {
  console.error(`no test file matches ${words.join(" ")}`);
  process.exit(1);
}
console.error(`cluster: ${files.length} test file(s)`);
const flags = given.filter((word) => word.startsWith("-"));
const options = ["--test", ...flags, "--conditions=@bowline/source", `--test-timeout=${TEST_MS}`];
const child = spawn(process.execPath, [...options, "--test-concurrency=1", ...files], {
  stdio: "inherit",
});
const [status] = await once(child, "exit");
process.exitCode = status ?? 1;
