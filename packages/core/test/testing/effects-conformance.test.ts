import { describe, it } from "node:test";
import { createJournalHarness, effectsConformance } from "../../src/testing/index.ts";

describe("effects over a journal in memory", () => {
  for (const { name, run } of effectsConformance(() => createJournalHarness(), { replays: true }))
    it(name, run);
});
