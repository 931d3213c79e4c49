/** Replays a record with another program than the one that made it. */
import type { Effects } from "../../agent/contract/effects.ts";
import { errorText } from "../../errors.ts";
import { check } from "../store/checks.ts";
import { CaseClock } from "./case-clock.ts";
import { calls, ended, slow } from "./parts.ts";
import { drive, newHistory, play, start, type CreateHarness } from "./play.ts";
import type { Scenario } from "./scenario.ts";
import { Watch } from "./watch.ts";

/** A name that no record has. */
const OTHER = "a step of another program";

const scenario: Scenario = {
  answers: [calls("a"), "Done."],
  tools: (world) => [slow(world, "a", 10)],
  check: ended("done", "Done."),
};

/**
 * Stops a run after its first step, and starts it anew as a program that gives this step another
 * name. Throws unless the attempt rejects with that name, and runs nothing.
 */
export async function playOther(createHarness: CreateHarness): Promise<void> {
  const whole = await play(scenario, createHarness);
  scenario.check(whole.end, false);
  const call = whole.attempts[0]?.names.indexOf("model:0") ?? -1;
  const harness = await createHarness();
  const history = newHistory(harness);
  const parts = { clock: new CaseClock(), done: new Map<string, Promise<unknown>>() };
  const attempt = (number: number, watch: Watch, change?: typeof renamed): Promise<unknown> => {
    const given = { ...parts, watch, attempt: number, ...(change && { change }) };
    return drive(start(scenario, harness, given), watch, harness, parts.clock);
  };
  try {
    const first = await attempt(1, new Watch(history, { call, phase: "after" }));
    check(first === undefined, "the first attempt ended before its first step");
    const error = await attempt(2, new Watch(history), renamed).then(() => "", errorText);
    check(error !== "", "the run went on, although its record has another step");
    check(error.includes(OTHER), `the error does not name the call "${OTHER}": ${error}`);
    // The case knows the step by the name that it has in the record.
    check(history.faults.length === 0, "a step ran that is not in the record");
  } finally {
    await harness.dispose?.();
  }
}

function renamed<T extends Partial<Effects>>(effects: T): T {
  const { step } = effects;
  const other: Partial<Effects> = {
    ...(step && { step: (_, fn, about) => step.call(effects, OTHER, fn, about) as never }),
  };
  return { ...effects, ...other };
}
