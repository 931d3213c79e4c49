// npm run cluster:bench: the cost of a step on Restate and PostgreSQL, above the same run in memory, and
// beside Restate, PostgreSQL and NATS alone, all in turns in one process.
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { Agent, defineTool } from "@bowline/core";
import { bareRounds, busRounds } from "../packages/cluster/test/support/nats-rounds.ts";
import { bareSteps } from "../packages/restate/test/bare-steps.ts";
import { startHarness } from "./kit/harness.ts";
import { mockModel } from "./kit/mock-model.ts";
import { natsIsMissing, startNats } from "./kit/nats.ts";
import { postJson } from "./kit/restate.ts";

const TURNS = 30;
const ROUNDS = 7;
/** Calls of the model and of tools. */
const STEPS = 2 * TURNS + 1;
/** Transactions of a run: three for each turn with a tool, and one for the end. */
const COMMITS = 3 * TURNS + 1;
const MESSAGES = 10_000;
const ENTRY = JSON.stringify({ type: "message", text: "x".repeat(300) });

const stack = new AsyncDisposableStack();
try {
  const h = stack.use(await startHarness());
  const server = createServer(bareSteps()).listen(0, "127.0.0.1");
  stack.defer(() => void server.close());
  await once(server, "listening");
  await h.restate.register(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const pool = new pg.Pool({ connectionString: await h.postgres.createDatabase("bare"), max: 1 });
  stack.defer(() => pool.end());
  await pool.query("create table bare (number serial primary key, body jsonb)");

  const turns = [
    ...Array.from({ length: TURNS }, () => ({ calls: [{ name: "safe", args: {} }] })),
    { text: "done" },
  ];
  let number = 0;
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    durable: async () => h.outcome(await h.begin(turns)),
    memory: () => {
      const name = `memory-${number++}`;
      const calls = turns.map((turn) => ("calls" in turn ? withScript(name) : turn));
      return inMemory(h.outside.url).prompt(h.outside.script(name, calls));
    },
    restate: () => {
      const name = `bare-${number++}`;
      h.outside.script(name, []);
      const body = JSON.stringify({ script: name, name: "safe", key: name, ms: 0 });
      const call = { steps: STEPS, url: `${h.outside.url}/tool`, body };
      return postJson(`${h.restate.ingress}/bare_steps/run`, call);
    },
    async sql() {
      for (let commit = 0; commit < COMMITS; commit++)
        await pool.query("insert into bare (body) values ($1)", [ENTRY]);
    },
  };
  const ms = await medians(works);
  const { durable = 0, memory = 0, restate = 0, sql = 0 } = ms;
  const above = (durable - memory) / STEPS;
  line("a run on Restate", durable, `${STEPS} steps, ${COMMITS} transactions`);
  line("the same in memory", memory, `${above.toFixed(1)} ms a step less`);
  line("bare Restate", restate, `${STEPS} steps of its SDK, each with a request of a tool`);
  line("bare SQL", sql, `${COMMITS} inserts, each a transaction`);
  const ratio = durable / (restate + sql);
  console.log(`a run on Restate is ${ratio.toFixed(2)} times bare Restate and bare SQL together`);
  await measureNats(h.folder);
} finally {
  await stack.disposeAsync();
}

function line(what: string, ms: number, about: string): void {
  console.log(`${what.padEnd(20)} ${ms.toFixed(0).padStart(6)} ms  (${about})`);
}

/** Prints the time of a message, over the bus and with the client of NATS alone. */
async function measureNats(folder: string): Promise<void> {
  const missing = natsIsMissing();
  if (missing !== false) return console.log(`NATS: not measured, ${missing}`);
  const nats = await startNats(folder);
  stack.defer(() => nats.kill());
  const [bare, bus] = await Promise.all([bareRounds(nats.url), busRounds(nats.url)]);
  const payload = new TextEncoder().encode(ENTRY);
  const times: Record<string, number[]> = { bare: [], bus: [] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, { rounds }] of Object.entries({ bare, bus })) {
      const took = await rounds(MESSAGES, payload);
      if (round > 0) times[name]?.push(took);
      await setTimeout(50);
    }
  await Promise.all([bare.close(), bus.close()]);
  for (const [name, took] of Object.entries(times)) {
    const each = (middle(took) / MESSAGES) * 1000;
    console.log(`${name === "bare" ? "bare NATS" : "the bus"}: ${each.toFixed(1)} µs a message`);
  }
}

/** The works take turns, so that all have the same noise. The first round compiles. */
async function medians(
  works: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<Record<string, number>> {
  const times = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, work] of Object.entries(works)) {
      const start = performance.now();
      await work();
      if (round > 0) times.get(name)?.push(performance.now() - start);
    }
  return Object.fromEntries([...times].map(([name, took]) => [name, middle(took)]));
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number;
}

function withScript(script: string): { calls: { name: string; args: object }[] } {
  return { calls: [{ name: "safe", args: { script } }] };
}

/** The agent of the workers, in this process and without a journal. `outside` is the model's address. */
function inMemory(outside: string): Agent {
  return new Agent({
    model: mockModel(outside),
    apiKey: "none",
    tools: [
      defineTool({
        name: "safe",
        description: "safe",
        parameters: {
          type: "object",
          properties: { script: { type: "string" } },
          required: ["script"],
        } as const,
        async execute({ script }, { signal, idempotencyKey: key }) {
          const body = JSON.stringify({ script, name: "safe", key, ms: 0 });
          const response = await fetch(`${outside}/tool`, { method: "POST", body, signal });
          await response.text();
          return "safe done";
        },
      }),
    ],
  });
}
