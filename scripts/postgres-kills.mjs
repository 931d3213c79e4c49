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

const started = performance.now();
const server = await startPostgres({ settings: [] });
const store = createPostgresStore({ connectionString: server.url() });
try {
  const { problems, ...counts } = await killWriters(store, server.url(), kills, show);
  process.stderr.write("\n");
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  const list = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  console.log(`${list.join(", ")}, problems ${problems.length}; ${minutes} min`);
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
  if (problems.length > 0 || counts.kills < kills) process.exitCode = 1;
} finally {
  await store.close();
  await server.stop();
}

function show({ kills: done, acknowledged, problems }) {
  process.stderr.write(
    `\r${done} of ${kills} kills, ${acknowledged} acknowledged, ${problems.length} problems`,
  );
}
