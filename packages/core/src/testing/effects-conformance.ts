/**
 * Test cases that every implementation of `Effects` for resumable runs must pass, for any test
 * runner. Each case plays a run whole, then stops it at each moment of each effect, and starts it
 * anew from what was recorded.
 */
import { approvalScenarios } from "./effects/approval-scenarios.ts";
import { budgetScenarios } from "./effects/budget-scenarios.ts";
import type { EffectsHarness } from "./effects/harness.ts";
import { playAll } from "./effects/play.ts";
import { toolScenarios } from "./effects/tools-scenarios.ts";
import type { ConformanceCase } from "./store-conformance.ts";

const scenarios = { ...toolScenarios, ...approvalScenarios, ...budgetScenarios };

/**
 * Returns the test cases. A case calls `createHarness` for each of its runs, about one to forty, and
 * rejects unless each stopped run
 *
 * - makes the same calls of effects in the same order (an engine that replays), or the steps that
 *   are left (a session);
 * - runs no step again whose result is recorded, and no tool with `replay: "never"` twice;
 * - ends with the same result and transcript, except for calls whose outcome is unknown.
 *
 * A run that replays is then replayed once more as a whole, and must be equal byte for byte. Cases
 * about what only such an engine records are left out with `replays: false`.
 */
export function effectsConformance(
  createHarness: () => EffectsHarness | Promise<EffectsHarness>,
  { replays }: Pick<EffectsHarness, "replays">,
): ConformanceCase[] {
  return Object.entries(scenarios)
    .filter(([, { only }]) => replays || only === undefined)
    .map(([name, scenario]) => ({
      name: `survives a stop at each moment of ${name}`,
      run: () => playAll(scenario, createHarness),
    }));
}
