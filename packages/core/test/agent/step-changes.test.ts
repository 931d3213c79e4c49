/** A step's result says what the step changes in its run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBudget } from "../../src/agent/index.ts";
import { StepChanges } from "../../src/agent/run/step-changes.ts";

describe("the changes of a step", () => {
  it("add nothing to its result if there are none", () => {
    assert.deepEqual(new StepChanges(createBudget(), []).addTo({}), {});
  });

  it("are its usage, that of nested runs, and what is remembered", () => {
    const changes = new StepChanges(createBudget(), []);
    changes.addUsage({ input: 1 });
    changes.addUsage({ input: 2, output: 3 });
    changes.remember("a", 1);
    changes.remember("b", 2);
    changes.budget.used.turns = 1;
    changes.budget.used.tokens = 9;
    changes.budget.used.reported = { totalTokens: 4 };
    assert.deepEqual(changes.addTo({}), {
      usage: { input: 3, output: 3 },
      nested: { turns: 1, usage: { totalTokens: 4 }, guess: 5 },
      memory: { a: 1, b: 2 },
    });
  });
});
