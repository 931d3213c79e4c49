/** Replays one seed: the finding, in the smallest simulation that still shows it, line by line. */
import { drawPlan } from "./draw-plan.ts";
import { shrink } from "./shrink.ts";
import type { Simulator } from "./simulate.ts";

/** Undefined if nothing is wrong. */
export async function explain(simulator: Simulator, seed: number): Promise<string | undefined> {
  const { finding } = await simulator.run(seed);
  if (finding === undefined) return undefined;
  const plan = await shrink(drawPlan(seed), async (candidate) => {
    const verdict = await simulator.runPlan(candidate);
    return verdict.finding?.check === finding.check;
  });
  const { trace } = await simulator.runPlan(plan, true);
  const end = trace.findIndex((line) => line.includes(" FOUND ")) + 3;
  return [
    `seed ${seed}, check "${finding.check}": ${finding.text}`,
    `The smallest plan that shows it: ${JSON.stringify(plan)}`,
    ...trace.slice(0, end),
    `Again: npm run simulate -- --seed ${seed}`,
  ].join("\n");
}

/** The events in the simulation of a seed, line by line, with or without a finding. */
export async function traceOf(simulator: Simulator, seed: number): Promise<string> {
  const { trace } = await simulator.runPlan(drawPlan(seed), true);
  return trace.join("\n");
}
