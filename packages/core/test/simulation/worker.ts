/** A thread of `npm run simulate` and of the test: runs the given seeds and reports the findings. */
import { parentPort } from "node:worker_threads";
import { explain } from "./replay.ts";
import { Simulator } from "./simulate.ts";

/** What the thread answers. */
export interface Done {
  readonly worlds: number;
  readonly runs: number;
  readonly events: number;
  readonly findings: readonly string[];
  /** How often each event happened. */
  readonly census: ReadonlyMap<string, number>;
}

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
  const census = new Map<string, number>();
  for (let seed = from; seed < from + count; seed++) {
    const verdict = await simulator.run(seed);
    runs += verdict.runs;
    events += verdict.events;
    for (const [what, times] of verdict.census) census.set(what, (census.get(what) ?? 0) + times);
    if (verdict.finding !== undefined)
      findings.push((await explain(simulator, seed)) ?? `seed ${seed} is not stable`);
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage({ worlds: count, runs, events, findings, census } satisfies Done);
}
