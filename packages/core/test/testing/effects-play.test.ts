/** A scenario of the kit of effects that could not fail. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { playAll } from "../../src/testing/effects/play.ts";
import { createJournalHarness } from "../../src/testing/index.ts";

it("rejects a scenario that waits for the decision of a call that the run does not make", async () => {
  const scenario = { answers: ["Done."], check: () => {}, ends: { onceDecided: "ask:" } };
  await assert.rejects(
    playAll(scenario, createJournalHarness),
    /^Error: stopped before \S+ \(call 0\): there is no call ask:$/,
  );
  await playAll({ ...scenario, ends: { onceDecided: "model:0" } }, createJournalHarness);
});
