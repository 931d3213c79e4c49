/** Draws a tool of a plan, and delays. The delays are few and short, so that events coincide. */
import type { ToolCallPlan, ToolPlan } from "./plan.ts";
import type { Random } from "./random.ts";

export const delays: readonly number[] = [0, 0, 0, 1, 1, 2, 3, 5, 10, 10, 50, 100, 200, 1000, 5000];

export const toolNames: readonly string[] = ["alpha", "beta", "gamma"];

const endings = [
  ...(["throws", "throwsAtOnce", "isError", "terminates", "terminates", "never", "never"] as const),
  ...(["undefined", "null", "number", "string", "noContent", "textContent", "list"] as const),
];

export function drawTool(random: Random, name: string): ToolPlan {
  return {
    name,
    ...(random.chance(0.1) && { sequential: true }),
    ...(random.chance(0.15) && { timeoutMs: random.pick([1, 10, 100]) }),
    ...(random.chance(0.15) && { schema: random.pick(["standard", "slow", "throws"] as const) }),
    ...(random.chance(0.1) && { prepare: random.pick(["completes", "throws"] as const) }),
    calls: random.some(3, () => drawToolCall(random)),
  };
}

function drawToolCall(random: Random): ToolCallPlan {
  return {
    ...(random.chance(0.7) && { wait: random.pick(delays) }),
    ...(random.chance(0.4) && { hops: random.below(6) }),
    ...(random.chance(0.4) && { ends: random.pick(endings) }),
    ...(random.chance(0.3) && { updates: random.some(3, () => random.pick(delays)) }),
    ...(random.chance(0.1) && { late: random.pick(delays) }),
    ...(random.chance(0.4) && { onAbort: random.pick(["ignores", "ignores", "returns"] as const) }),
  };
}
