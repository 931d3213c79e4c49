// npm run simulate: runs random simulations on every CPU core up to the wanted number. Exits with 1
// and the seed of a failure. `-- --seed N` repeats one seed and prints its events. `--runs N`,
// `--base N` and `--workers N` set the number of runs, the first seed and the number of workers.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

const folder = new URL("../packages/core/test/simulation/", import.meta.url);
/** Simulations per request to a worker. */
const CHUNK = 250;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    runs: { type: "string", default: "1000000" },
    base: { type: "string", default: String(Date.now() % 1_000_000_000) },
    workers: { type: "string", default: String(availableParallelism()) },
  },
});

if (values.seed === undefined) await search();
else await replay(Number(values.seed));

async function replay(seed) {
  const { explain, traceOf } = await import(new URL("replay.ts", folder));
  const { Simulator } = await import(new URL("simulate.ts", folder));
  using simulator = new Simulator();
  const explanation = await explain(simulator, seed);
  console.log(explanation ?? `${await traceOf(simulator, seed)}\nseed ${seed}: nothing is wrong`);
  if (explanation !== undefined) process.exitCode = 1;
}

async function search() {
  const base = Number(values.base);
  const target = Number(values.runs);
  const sum = { worlds: 0, runs: 0, events: 0 };
  const findings = [];
  const started = performance.now();
  let next = base;
  console.log(`base seed ${base}`);
  const progress = setInterval(() => process.stderr.write(`\r${figures(sum, started)} `), 1000);
  await Promise.all(Array.from({ length: Number(values.workers) }, run));
  clearInterval(progress);
  process.stderr.write("\r");
  console.log(figures(sum, started));
  for (const finding of findings) console.log(`\n${finding}`);
  console.log(findings.length === 0 ? "nothing was found" : `${findings.length} found`);
  if (findings.length > 0) process.exitCode = 1;

  /** Runs one worker until all runs are done or a failure is found. */
  function run() {
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL("worker.ts", folder));
      const give = () => {
        if (sum.runs >= target || findings.length > 0) {
          resolve();
          return worker.terminate();
        }
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        worker.postMessage({ from: next, count: CHUNK });
        next += CHUNK;
      };
      worker.on("error", reject);
      worker.on("message", ({ worlds, runs, events, findings: found }) => {
        sum.worlds += worlds;
        sum.runs += runs;
        sum.events += events;
        findings.push(...found);
        void give();
      });
      void give();
    });
  }
}

function figures({ worlds, runs, events }, started) {
  const seconds = (performance.now() - started) / 1000;
  const rate = Math.round(runs / seconds);
  return `${runs} runs in ${worlds} worlds, ${events} events, ${seconds.toFixed(0)} s, ${rate} runs/s`;
}
