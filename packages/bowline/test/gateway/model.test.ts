/**
 * BOWLINE_MODEL_SEEDS=1-500 plays those seeds. A fault names its seed. Timing also has an effect,
 * so a rare fault may need several runs to appear again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { play, type PlayOptions } from "./model.ts";

const [from = 1, to = from] = (process.env.BOWLINE_MODEL_SEEDS ?? "1-2").split("-").map(Number);

const shapes: Readonly<Record<string, PlayOptions>> = {
  "servers that are stopped and killed": { steps: 20 },
  "one server": { steps: 15, isRestarted: false },
};

describe("random clients with broken connections", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    it(
      `find no broken promise with ${name}`,
      { timeout: 300_000 + (to - from) * 20_000 },
      async () => {
        for (let seed = from; seed <= to; seed++) assert.deepEqual(await play(seed, shape), []);
      },
    );
  }
});
