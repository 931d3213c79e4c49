/**
 * npm run cluster:drill: kills and stops the processes of a cluster while many people use it, and checks
 * what they got. Exits with 1 and the findings. `-- --quick` takes less than a minute.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemIsMissing } from "../kit/system.ts";
import { breakMain } from "./break-main.ts";
import { drill } from "./drill.ts";
import { writeReport } from "./report.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seed: { type: "string" },
    minutes: { type: "string" },
    sessions: { type: "string" },
    folder: { type: "string" },
    break: { type: "string" },
    "one-host": { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
const minutes = Number(values.minutes ?? (values.quick ? 0.38 : 5));
const sessions = Number(values.sessions ?? (values.quick ? 24 : 200));
if (!Number.isInteger(seed) || !(minutes > 0) || !(sessions >= 1)) {
  console.error(
    "cluster:drill [--quick] [--seed N] [--minutes N] [--sessions N] [--folder PATH] [--one-host] [--break NAME]",
  );
  process.exit(2);
}
const missing = systemIsMissing();
if (missing !== false) {
  console.error(`The drill needs servers: ${missing}.`);
  process.exit(2);
}
if (values.break !== undefined) process.exit(await breakMain(values.break, seed));
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "bowline-drill-"));
mkdirSync(folder, { recursive: true });
console.log(`seed ${seed}; ${sessions} sessions; logs in ${folder}`);
const report = await drill({
  seed,
  breakMs: minutes * 60_000,
  sessions,
  folder,
  tasksPerSecond: values.quick ? 1.5 : 1,
  restMs: values.quick ? 45_000 : 240_000,
  hasHosts: !values["one-host"],
  pace: values.quick ? 0.4 : 1,
  say: (line) => console.log(line),
});
const isGood = writeReport(report, { seed, folder });
if (isGood && values.folder === undefined) rmSync(folder, { recursive: true, force: true });
process.exit(isGood ? 0 : 1);
