// The cost of a run in each part of a cluster: processor time, transactions, rows and bytes. For
// docs/project/scale.md. `node --conditions=@bowline/source cluster/scale.ts [runs] [at a time]`
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { startOutside } from "./kit/outside.ts";
import type { Handle } from "./kit/service.ts";
import { startSystem, type System } from "./kit/system.ts";

const RUNS = Number(process.argv[2] ?? 200);
const CONCURRENT = Number(process.argv[3] ?? 10);
/** Of each answer, in characters. */
const ANSWER = 500;
/** Milliseconds of a tick of the processor's clock, as /proc counts. */
const TICK_MS = 10;
const IDLE_MS = 15_000;
/** The database writes its counters with a delay. */
const SETTLED_MS = 3000;

/** Of each run, from its message to its end, in milliseconds. */
const took: number[] = [];
const outside = await startOutside();
const system = await startSystem({
  agentModule: join(import.meta.dirname, "kit/scale-agents.ts"),
  env: { OUTSIDE: outside.url },
});
try {
  await runAll("warm", 20);
  await pause(SETTLED_MS);
  const idle = await measured(() => pause(IDLE_MS));
  const busy = await measured(() => runAll("run", RUNS));
  const { seconds } = busy;
  console.log(`${RUNS} runs, ${CONCURRENT} at a time, ${(RUNS / seconds).toFixed(1)} a second`);
  const sorted = took.slice(-RUNS).toSorted((a, b) => a - b);
  const at = (share: number): string => `${Math.round(sorted[Math.floor(share * RUNS)] ?? 0)} ms`;
  console.log(`a run, from message to end: median ${at(0.5)}, 95 % ${at(0.95)}`);
  const rows = Object.entries(busy.growth).map(([name, growth]) => {
    const idleRate = (idle.growth[name] ?? 0) / idle.seconds;
    const each = (growth - idleRate * seconds) / RUNS;
    return [name, { "a run": round(each), "idle, a second": round(idleRate) }];
  });
  console.table(Object.fromEntries(rows));
  console.log(await journal(system));
} finally {
  await system[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
}

interface Measured {
  readonly seconds: number;
  readonly growth: Readonly<Record<string, number>>;
}

/** What grew during the work, with what the database counts a little later. */
async function measured(work: () => Promise<void>): Promise<Measured> {
  const before = await state();
  const start = performance.now();
  await work();
  await pause(SETTLED_MS);
  const seconds = (performance.now() - start) / 1000;
  const after = await state();
  const growth = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  return { seconds, growth: Object.fromEntries(growth) as Record<string, number> };
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function runAll(name: string, count: number): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      await run(`${name}-${number}`, system.urls[number % system.urls.length] ?? "");
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, one));
}

/** A session with one run: a call of a tool, and an answer. Waits for its end. */
async function run(name: string, url: string): Promise<void> {
  const message = outside.script(name, [
    { calls: [{ name: "look", args: { script: name } }] },
    { text: "x".repeat(ANSWER) },
  ]);
  const headers = { authorization: `Bearer ${system.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ sessionKey: name, message });
  const start = performance.now();
  const accepted = await fetch(`${url}/api/chat`, { method: "POST", headers, body });
  const { events } = (await accepted.json()) as { readonly events: string };
  const text = await (await fetch(`${url}${events}`, { headers })).text();
  if (!text.includes("event: chat.final")) throw new Error(`${name} did not end: ${text}`);
  took.push(performance.now() - start);
}

async function state(): Promise<Record<string, number>> {
  const { server } = system.postgres;
  const number = async (sql: string): Promise<number> => Number(await server.sql(sql, "bowline"));
  const tables = await server.sql(
    "select relname || '=' || n_tup_ins from pg_stat_user_tables order by 1",
    "bowline",
  );
  const inserted = tables.split("\n").map((line) => {
    const [table = "", count] = line.split("=");
    return [`rows inserted: ${table}`, Number(count)];
  });
  const ofKind = (kind: Handle["kind"]): number =>
    system.handles
      .filter((handle) => handle.kind === kind)
      .reduce((sum, { pid }) => sum + processorMs(pid), 0);
  return {
    "ms of processor: gateways": ofKind("gateway"),
    "ms of processor: workers": ofKind("worker"),
    ...Object.fromEntries(
      system.workers.map(({ name, pid }) => [`ms of processor: ${name} alone`, processorMs(pid)]),
    ),
    "ms of processor: Restate": ofKind("restate"),
    "ms of processor: NATS": ofKind("nats"),
    "ms of processor: PostgreSQL": ofKind("postgres"),
    "transactions of PostgreSQL": await number(
      "select xact_commit from pg_stat_database where datname = 'bowline'",
    ),
    "bytes of its log (WAL)": await number("select pg_current_wal_lsn() - '0/0'::pg_lsn"),
    "bytes of the database": await number("select pg_database_size('bowline')"),
    "bytes of Restate's disks": diskBytes(join(system.folder, "restate")),
    ...(Object.fromEntries(inserted) as Record<string, number>),
  };
}

/** Of a process, its ended children, and its children. */
function processorMs(pid: number): number {
  const own = (id: number): number => {
    try {
      const [, rest = ""] = readFileSync(`/proc/${id}/stat`, "utf8").split(") ");
      const times = rest.split(" ").slice(11, 15).map(Number);
      return times.reduce((sum, ticks) => sum + ticks * TICK_MS, 0);
    } catch {
      return 0; // it has ended
    }
  };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const ids = children === "" ? [] : children.split(" ").map(Number);
  return [pid, ...ids].reduce((sum, id) => sum + own(id), 0);
}

function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (stats?.isFile() === true ? stats.size : 0);
  }, 0);
}

/** The entries of the journals, which Restate keeps for an hour after the end of a run. */
async function journal({ restate, addresses }: System): Promise<string> {
  const [row] = await restate.query(
    `select count(*) as entries, count(distinct id) as runs, sum(length(entry_json)) as json
     from sys_journal where id in
     (select id from sys_invocation where target_handler_name = 'run')`,
    addresses.admin,
  );
  return `journal: ${JSON.stringify(row)}`;
}
