// npm run postgres-kills: kills 1,000 processes that write to a session in PostgreSQL, and checks that
// nothing acknowledged is lost and nothing is stored twice. `npm run postgres-kills -- 200` kills 200.
// Prints progress to stderr and the result to stdout.
import { killWriters } from "../packages/postgres/test/crash/kill-writers.ts";
import { createPostgresStore } from "../packages/postgres/src/index.ts";
import { postgresIsMissing, startPostgres } from "../test/support/postgres.ts";

const [wanted = "1000"] = process.argv.slice(2);
const kills = Number(wanted);
if (!Number.isInteger(kills) || kills < 1) {
  console.error(`postgres-kills.mjs [kills], not ${wanted}`);
  process.exit(2);
}
const missing = postgresIsMissing();
if (missing !== false) {
  console.error(`not run: ${missing}`);
  process.exit(1);
}

/** Sessions at a time, each with one writer. */
const WORKERS = Math.min(8, kills);
const latest = [];
const started = performance.now();
const server = await startPostgres({ settings: [] });
const store = createPostgresStore({ connectionString: server.url() });
try {
  const reports = await Promise.all(
    Array.from({ length: WORKERS }, (_, worker) =>
      killWriters(store, server.url(), {
        kills: Math.ceil((kills - worker) / WORKERS),
        session: `s${worker}`,
        onProgress: (report) => show(worker, report),
      }),
    ),
  );
  process.stderr.write("\n");
  const problems = reports.flatMap((report) => report.problems);
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(`${line()}; ${minutes} min`);
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
  if (problems.length > 0 || sum("kills") < kills) process.exitCode = 1;
} finally {
  await store.close();
  await server.stop();
}

function show(worker, report) {
  latest[worker] = report;
  process.stderr.write(`\r${line()}`);
}

function line() {
  const problems = latest.flatMap((report) => report.problems).length;
  return `${sum("kills")} of ${kills} kills, ${sum("acknowledged")} acknowledged, ${problems} problems`;
}

function sum(field) {
  return latest.reduce((all, report) => all + report[field], 0);
}
