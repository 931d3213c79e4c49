import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addUsage } from "../../src/llm/usage.ts";

describe("addUsage", () => {
  it("adds costs part by part", () => {
    const sum = addUsage(
      { input: 1, cost: { total: 1, input: 1 } },
      { input: 2, output: 3, cost: { total: 2, output: 2 } },
    );
    assert.deepEqual(sum, { input: 3, output: 3, cost: { total: 3, input: 1, output: 2 } });
  });

  it("leaves out fields that were not reported", () => {
    assert.deepEqual(addUsage({}, { input: 0 }), { input: 0 });
    assert.deepEqual(addUsage({ output: 1 }, {}), { output: 1 });
  });
});
