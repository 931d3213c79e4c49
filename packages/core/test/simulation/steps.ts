/** The recorder of an agent's steps, which is slow, fails, or never settles, as the plan says. */
import type { Effects } from "../../src/agent/index.ts";
import type { BowlineError } from "../../src/errors.ts";
import type { StepPlan } from "./plan.ts";
import type { Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";

export function createRecorder(
  plans: readonly StepPlan[],
  watch: Watch,
  timeline: Timeline,
): Pick<Effects, "step"> {
  let steps = 0;
  return {
    async step(name, fn, about) {
      const failure = watch.steps(name, about);
      const number = steps++;
      const plan = watch.circumstances.isCalm ? undefined : plans.find(({ at }) => at === number);
      if (plan === undefined) return fn();
      if (plan.isBehind !== true) {
        await record(plan, name, failure);
        return fn();
      }
      const result = await fn();
      await record(plan, name, failure);
      return result;
    },
  };

  async function record(
    { does, wait }: StepPlan,
    name: string,
    failure: () => BowlineError,
  ): Promise<void> {
    watch.note(() => `the record of ${name} ${does}`);
    watch.count(`a record ${does}`);
    if (does === "never") return watch.stall();
    if (wait !== undefined) await timeline.sleep(wait);
    if (does === "rejects") throw failure();
  }
}
