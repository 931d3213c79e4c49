// npm run fuzz: sends 100,000 invalid frames and requests while one valid client is connected.
// Exits with 1 and the findings. `-- --frames=3000` sends fewer, `--seed=N` repeats a run.
import { parseArgs } from "node:util";
import { fuzz, inMegabytes } from "../packages/bowline/test/fuzz/fuzz.ts";

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});
const [frames, seed] = [Number(values.frames), Number(values.seed)];
if (!Number.isInteger(frames) || frames < 100 || !Number.isInteger(seed)) {
  console.error("fuzz.mjs [--frames=100 or more] [--seed=N]");
  process.exit(2);
}

const started = performance.now();
console.log(`seed ${seed}`);
const report = await fuzz({ frames, seed, onProgress: show });
process.stderr.write("\n");
const { faults, tenths, waits } = report;
const seconds = (performance.now() - started) / 1000;
const [p50, p99, most] = waits.map((ms) => ms.toFixed(1));
console.log(
  `${report.frames} frames and ${report.requests} requests on ${report.connections} connections in ${seconds.toFixed(0)} s`,
);
console.log(
  `memory of the server after each tenth, MB: ${tenths.map(({ rss }) => inMegabytes(rss)).join(" ")}`,
);
console.log(
  `of that objects and buffers, MB: ${tenths.map(({ used }) => inMegabytes(used)).join(" ")}`,
);
console.log(
  `the server's loop was held for ${report.heldMs.toFixed(0)} ms at most; ${cpuOf(report)} µs of processor for each`,
);
console.log(
  `a healthy client waited ${p50} ms (median), ${p99} ms (p99), ${most} ms (most); ${report.healthyRuns} runs`,
);
const codes = [...report.codes].toSorted(([a], [b]) => a - b);
console.log(`seen: ${codes.map(([code, count]) => `${code} ${count} times`).join(", ")}`);
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(
  faults.length === 0
    ? "nothing was found"
    : `${faults.length} found; again: npm run fuzz -- --seed=${seed}`,
);
process.exit(faults.length === 0 ? 0 : 1);

function show({ frames: sent, requests, connections, faults: found }) {
  process.stderr.write(
    `\r${sent + requests} of ${frames}, ${connections} connections, ${found.length} faults `,
  );
}

function cpuOf({ cpuMs, frames: sent, requests }) {
  return ((cpuMs * 1000) / (sent + requests)).toFixed(0);
}
