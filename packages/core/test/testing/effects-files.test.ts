/** The kit of effects over a session in files. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { effectsConformance, type EffectsHarness } from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";
import { createSessionHarness } from "./session-harness.ts";

async function createHarness(): Promise<EffectsHarness> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-effects-"));
  let stores = 0;
  return createSessionHarness(
    () => createJsonlStore(join(folder, String(stores++)), { sync: "never" }),
    () => rm(folder, { recursive: true }),
  );
}

describe("the effects of a session in files", () => {
  for (const { name, run } of effectsConformance(createHarness, { replays: false }))
    it(name, () => within(name, run()));
});
