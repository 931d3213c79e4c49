import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FailedTries, scopeOf } from "../../src/gateway/access/tokens.ts";

/** Creates the counter with a clock that moves only by `at()`. */
function tries(max: number): { failed: FailedTries; at: (ms: number) => FailedTries } {
  let now = 0;
  const failed = new FailedTries(max, { now: () => now, setTimer: () => assert.fail("no timer") });
  const at = (ms: number): FailedTries => {
    now = ms;
    return failed;
  };
  return { failed, at };
}

describe("wrong tokens of an address", () => {
  it("block the address at the limit until the end of its minute", () => {
    const { failed, at } = tries(3);
    for (const wait of [0, 0, 60_000, 60_000]) {
      failed.add("a");
      assert.equal(failed.waitOf("a"), wait);
    }
    assert.equal(failed.waitOf("b"), 0);
    assert.equal(at(59_999).waitOf("a"), 1);
    assert.equal(at(60_000).waitOf("a"), 0);
    failed.add("a");
    assert.equal(failed.waitOf("a"), 0, "counted anew");
  });

  it("are counted per minute, which begins with the first wrong token", () => {
    const { failed, at } = tries(2);
    failed.add("a");
    at(59_999).add("a");
    assert.equal(failed.waitOf("a"), 1);
    at(60_000).add("a");
    assert.equal(failed.waitOf("a"), 0);
    at(60_001).add("a");
    assert.equal(failed.waitOf("a"), 59_999);
  });

  it("block no address for longer when the clock is set back", () => {
    const { failed, at } = tries(1);
    at(1_000_000).add("a");
    assert.equal(failed.waitOf("a"), 60_000);
    assert.equal(at(999_999).waitOf("a"), 0);
    assert.equal(at(0).waitOf("a"), 0);
  });

  it("are forgotten after their minute, also if the clock is then set back", () => {
    const { failed, at } = tries(1);
    failed.add("a");
    assert.equal(at(60_000).waitOf("a"), 0);
    assert.equal(at(59_000).waitOf("a"), 0);
  });

  it("are counted for the last 10,000 addresses", () => {
    const { failed } = tries(1);
    const fill = (count: number): void => {
      for (let at = 0; at < count; at++) failed.add(`address ${at}`);
    };
    failed.add("first");
    fill(9999);
    assert.equal(failed.waitOf("first"), 60_000);
    failed.add("one more");
    assert.equal(failed.waitOf("first"), 0);
    assert.equal(failed.waitOf("address 0"), 60_000);
  });
});

describe("a token", () => {
  it("has full access, read access, or is wrong", () => {
    const both = { full: "f", read: "r" };
    assert.deepEqual(
      ["f", "r", "", "fr"].map((given) => scopeOf(given, both)),
      ["full", "read", undefined, undefined],
    );
    assert.deepEqual(
      ["f", "", "undefined"].map((given) => scopeOf(given, { full: "f" })),
      ["full", undefined, undefined],
    );
    assert.equal(scopeOf("x", { full: "x", read: "x" }), "full");
  });
});
