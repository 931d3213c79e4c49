/**
 * Test cases that every implementation of `Effects` for resumable runs must pass, for any test
 * runner. Each case plays a run whole, then stops it at each moment of each effect, and starts it
 * anew from what was recorded.
 */
import { approvalScenarios } from "./effects/approval-scenarios.ts";
import { budgetScenarios } from "./effects/budget-scenarios.ts";
import type { EffectsHarness } from "./effects/harness.ts";
import { playOther } from "./effects/play-other.ts";
import { playAll } from "./effects/play.ts";
import { toolScenarios } from "./effects/tools-scenarios.ts";
import type { ConformanceCase } from "./store-conformance.ts";
import { check } from "./store/checks.ts";
import { BowlineError, errorText } from "../errors.ts";

const scenarios = { ...toolScenarios, ...approvalScenarios, ...budgetScenarios };

/** Why effects do not pass a case. */
export interface EffectsException {
  /** Why they cannot. It is in the title of the case. */
  readonly reason: string;
  /** A part of the error with which the case fails. */
  readonly failure: string;
}

export interface EffectsConformanceOptions extends Pick<EffectsHarness, "replays"> {
  /**
   * The cases that these effects cannot pass, by the name of their run, such as `"one turn"`. Such a case
   * stays in the list, with the reason in its title, and rejects unless it fails as you say. An unknown
   * name throws. Default: none.
   */
  readonly exceptions?: Readonly<Record<string, EffectsException>> | undefined;
}

/**
 * Returns the test cases. A case calls `createHarness` for each of its runs, about one to forty, and
 * rejects unless each stopped run
 *
 * - makes the same calls of effects in the same order (an engine that replays), or the steps that
 *   are left (a session);
 * - runs no step again whose result is recorded, and no tool with `replay: "never"` twice;
 * - ends with the same result and transcript, except for calls whose outcome is unknown.
 *
 * A run that replays is then replayed once more as a whole, and must be equal byte for byte. One more
 * case replays a record with another order of names, which must fail. Cases about what only such an
 * engine records are left out with `replays: false`.
 */
export function effectsConformance(
  createHarness: () => EffectsHarness | Promise<EffectsHarness>,
  { replays, exceptions = {} }: EffectsConformanceOptions,
): ConformanceCase[] {
  const chosen = Object.entries(scenarios).filter(([, { only }]) => replays || only === undefined);
  const names = chosen.map(([name]) => name);
  const unknown = Object.keys(exceptions).filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new BowlineError(
      "invalid_argument",
      `There is no case ${unknown.map((name) => JSON.stringify(name)).join(", ")}. There are: ${names.join("; ")}.`,
    );
  const cases = chosen.map(([name, scenario]): ConformanceCase => {
    const run = (): Promise<void> => playAll(scenario, createHarness);
    const exception = exceptions[name];
    return exception === undefined
      ? { name: `survives a stop at each moment of ${name}`, run }
      : { name: `cannot do ${name}: ${exception.reason}`, run: () => failing(run, exception) };
  });
  if (!replays) return cases;
  const run = (): Promise<void> => playOther(createHarness);
  return [...cases, { name: "refuses to replay another order of names", run }];
}

/** Throws unless the case fails as the exception says. */
async function failing(run: () => Promise<void>, { failure }: EffectsException): Promise<void> {
  const error = await run().then(() => "", errorText);
  check(error !== "", "the case passes, and needs no exception");
  check(error.includes(failure), `the case fails otherwise than with "${failure}": ${error}`);
}
