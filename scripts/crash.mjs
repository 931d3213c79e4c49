// npm run crash: runs the kill test 5,000 times. Then runs it on deliberately broken copies, in
// which it must find the fault. `npm run crash -- 200` kills 200 times. Prints progress to stderr
// and the result to stdout.
import { breakages, breakCopy } from "../packages/core/test/crash/broken-copy.ts";
import { killRuns } from "../packages/core/test/crash/kill-runs.ts";

const [wanted = "5000"] = process.argv.slice(2);
const kills = Number(wanted);
if (!Number.isInteger(kills) || kills < 1) {
  console.error(`crash.mjs [kills], not ${wanted}`);
  process.exit(2);
}

const started = performance.now();
const report = await killRuns({ kills, onProgress: show });
show(report);
process.stderr.write("\n");
const { problems, ...counts } = report;
const minutes = ((performance.now() - started) / 60_000).toFixed(1);
const list = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
console.log(`${list.join(", ")}; ${minutes} min`);
for (const problem of problems) console.log(`PROBLEM ${problem}`);
if (problems.length > 0 || counts.kills < kills) process.exitCode = 1;

for (const [what, breakage] of Object.entries(breakages)) {
  await using broken = await breakCopy(breakage);
  const { problems: found, kills: needed } = await killRuns({ kills: 500, child: broken.child });
  const problem = found.find((one) => breakage.found.test(one));
  if (problem === undefined) process.exitCode = 1;
  console.log(
    `${problem === undefined ? "NOT FOUND" : `found after ${needed} kills`}: ${what}${problem ? ` (${problem})` : ""}`,
  );
}

function show({ kills: done, tasks, executions, unknown, problems: found }) {
  const line = `${done} of ${kills} kills, ${tasks} tasks, ${executions} executions, ${unknown} unknown, ${found.length} problems`;
  process.stderr.write(`\r${line}`);
}
