import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addUsage, billedUsage, costOf, withTotal } from "../../src/llm/usage.ts";

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

describe("costOf", () => {
  const prices = { input: 2, output: 8 };

  it("counts the tokens that are known, if the server reports one side only", () => {
    const input = costOf({ input: 500_000 }, prices);
    assert.deepEqual(input, { total: 1, input: 1, output: 0, cacheRead: 0, cacheWrite: 0 });
    assert.equal(costOf({ output: 500_000 }, prices)?.total, 4);
  });

  it("is unknown without input and output tokens", () => {
    assert.equal(costOf({ totalTokens: 10 }, prices), undefined);
  });

  it("is that of the input for cached tokens without a price", () => {
    const usage = { input: 0, cacheRead: 500_000, cacheWrite: 1_000_000 };
    assert.equal(costOf(usage, prices)?.total, 3);
    assert.equal(costOf(usage, { ...prices, cacheRead: 0, cacheWrite: 1 })?.total, 1);
  });
});

describe("totalTokens", () => {
  it("is set when input and output are known, unless the server reported it", () => {
    assert.equal(withTotal({ input: 1, output: 2, cacheRead: 4, cacheWrite: 8 }).totalTokens, 15);
    assert.equal(withTotal({ input: 0, output: 0 }).totalTokens, 0);
    assert.equal(withTotal({ input: 1, output: 2, totalTokens: 7 }).totalTokens, 7);
  });

  it("of a message stays unknown while input or output is", () => {
    for (const usage of [{}, { input: 1 }, { output: 2 }, { cacheRead: 4 }])
      assert.deepEqual(withTotal(usage), usage);
  });

  it("of a bill counts what is known, including discarded tries", () => {
    assert.deepEqual(billedUsage({ usage: {} }), {});
    for (const key of ["input", "output", "cacheRead", "cacheWrite"])
      assert.equal(billedUsage({ usage: { [key]: 3 } }).totalTokens, 3, key);
    assert.equal(billedUsage({ usage: { totalTokens: 9 } }).totalTokens, 9);
    const bill = billedUsage({ usage: { input: 1 }, discardedUsage: { output: 2 } });
    assert.deepEqual(bill, { input: 1, output: 2, totalTokens: 3 });
  });
});
