// npm run cluster:bench: the cost of a step on Restate and PostgreSQL, above the same run in memory.
import { Agent, defineTool } from "@bowline/core";
import { startHarness } from "./kit/harness.ts";
import { mockModel } from "./kit/mock-model.ts";

const TURNS = 30;
const RUNS = 7;
/** Calls of the model and of tools. */
const STEPS = 2 * TURNS + 1;

const h = await startHarness();
try {
  const turns = [
    ...Array.from({ length: TURNS }, () => ({ calls: [{ name: "safe", args: {} }] })),
    { text: "done" },
  ];
  const durable = await median(async () => {
    const run = await h.begin(turns);
    await h.outcome(run);
  });
  let number = 0;
  const memory = await median(async () => {
    const name = `memory-${number++}`;
    const calls = turns.map((turn) => ("calls" in turn ? withScript(name) : turn));
    await inMemory().prompt(h.outside.script(name, calls));
  });
  const above = (durable - memory) / STEPS;
  console.log(`on Restate   ${durable.toFixed(0)} ms (median of ${RUNS} runs of ${STEPS} steps)`);
  console.log(`in memory    ${memory.toFixed(0)} ms`);
  console.log(`per step     ${above.toFixed(1)} ms above memory`);
} finally {
  await h[Symbol.asyncDispose]();
}

async function median(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  await work(); // compiles
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] as number;
}

function withScript(script: string): { calls: { name: string; args: object }[] } {
  return { calls: [{ name: "safe", args: { script } }] };
}

/** The agent of the workers, in this process and without a journal. */
function inMemory(): Agent {
  return new Agent({
    model: mockModel(h.outside.url),
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
          const response = await fetch(`${h.outside.url}/tool`, { method: "POST", body, signal });
          await response.text();
          return "safe done";
        },
      }),
    ],
  });
}
