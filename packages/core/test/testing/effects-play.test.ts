/** Scenarios of the kit of effects that could not fail, and stops that never come. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { systemClock } from "../../src/clock.ts";
import { play, playAll } from "../../src/testing/effects/play.ts";
import { calls, ended, slow } from "../../src/testing/effects/parts.ts";
import type { EffectsHarness } from "../../src/testing/effects/harness.ts";
import type { Scenario } from "../../src/testing/effects/scenario.ts";
import { createJournalHarness } from "../../src/testing/index.ts";

it("rejects a scenario that waits for the decision of a call that the run does not make", async () => {
  const scenario = { answers: ["Done."], check: () => {}, ends: { onceDecided: "ask:" } };
  await assert.rejects(
    playAll(scenario, createJournalHarness),
    /^Error: stopped before \S+ \(call 0\): there is no call ask:$/,
  );
  await playAll({ ...scenario, ends: { onceDecided: "model:0" } }, createJournalHarness);
});

it("accepts an end before the stop only if the end depends on a time that moves by itself", async () => {
  const never = [{ call: 1000, phase: "before" as const }];
  const own = (): EffectsHarness => createJournalHarness();
  const timed = (): EffectsHarness => ({ ...createJournalHarness(), clock: systemClock });
  const scenario = { answers: ["Done."], check: () => {} };
  const early = /^Error: attempt 1 ended before call 1000$/;
  await assert.rejects(play({ ...scenario, ends: "checked" }, own, never), early);
  await assert.rejects(play(scenario, timed, never), early);
  const { attempts, end } = await play({ ...scenario, ends: "checked" }, timed, never);
  assert.deepEqual([attempts.length, end.result.reason], [1, "done"]);
});

it("compares the end of a run that was stopped only after the call that decides it", async () => {
  const scenario: Scenario = {
    answers: ({ attempt }) => [attempt === 1 ? "One." : "Two."],
    check: () => {},
    ends: { onceDecided: "model:0" },
  };
  await playAll(scenario, createJournalHarness);
});

it("accepts that the outcome of a call is unknown if the run was stopped once it was announced", async () => {
  const scenario: Scenario = {
    answers: [calls("a"), "Done."],
    tools: (world) => [slow(world, "a", 5, { replay: "never" })],
    check: ended("done", "Done."),
  };
  await playAll(scenario, createJournalHarness);
});
