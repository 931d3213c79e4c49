/** The kit of effects over a session in memory. */
import { describe, it } from "node:test";
import { createMemoryStore } from "../../src/session/index.ts";
import { effectsConformance } from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";
import { createSessionHarness } from "./session-harness.ts";

describe("the effects of a session in memory", () => {
  const createHarness = () => createSessionHarness(createMemoryStore);
  for (const { name, run } of effectsConformance(createHarness, { replays: false }))
    it(name, () => within(name, run()));
});
