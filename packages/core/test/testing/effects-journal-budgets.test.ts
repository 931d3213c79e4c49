/** The kit of effects over a journal in memory. */
import { createJournalHarness } from "../../src/testing/index.ts";
import { describePart } from "./effects-parts.ts";

describePart("budgets", "the effects of a journal in memory", () => createJournalHarness(), {
  replays: true,
});
