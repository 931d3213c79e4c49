/** A thread of `npm run simulate`: runs the given seeds and reports the findings. */
import { parentPort } from "node:worker_threads";
import { explain } from "./replay.ts";
import { Simulator } from "./simulate.ts";

const simulator = new Simulator();
parentPort?.on("message", (range: { readonly from: number; readonly count: number }) => {
  void work(range);
});

async function work({
  from,
  count,
}: {
  readonly from: number;
  readonly count: number;
}): Promise<void> {
  let runs = 0;
  let events = 0;
  const findings: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const verdict = await simulator.run(seed);
    runs += verdict.runs;
    events += verdict.events;
    if (verdict.finding !== undefined)
      findings.push((await explain(simulator, seed)) ?? `seed ${seed} is not stable`);
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage({ worlds: count, runs, events, findings });
}
