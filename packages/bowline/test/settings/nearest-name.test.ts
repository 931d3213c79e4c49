import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { didYouMean, nearestName } from "../../src/settings/nearest-name.ts";

describe("nearestName", () => {
  it("finds swapped, missing, added and wrong letters, and the beginning of a name", () => {
    const names = ["model", "max-turns", "no-session", "yes"];
    for (const [given, name] of [
      ["modle", "model"],
      ["modl", "model"],
      ["models", "model"],
      ["Model", "model"],
      ["max-trun", "max-turns"],
      ["no-sess", "no-session"],
      ["banana", undefined],
      ["", undefined],
    ] as const)
      assert.equal(nearestName(given, names), name, given);
    assert.equal(
      didYouMean("modle", names, (name) => `--${name}`),
      " Did you mean --model?",
    );
    assert.equal(didYouMean("x".repeat(100_000), names), "");
  });
});
