/** The kit of effects over a journal in memory that starts nested runs itself. */
import { describe, it } from "node:test";
import { createJournalHarness, effectsConformance } from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";

describe("the effects of a journal in memory that starts nested runs itself", () => {
  const createHarness = () => createJournalHarness({ hasChildren: true });
  // Other runs are the same.
  for (const { name, run } of effectsConformance(createHarness, { replays: true }))
    if (/nested/.test(name)) it(name, () => within(name, run()));
});
