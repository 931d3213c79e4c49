/** Secrets that overlap each other, or the prefix of a vendor's key. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "../../src/transport/redact.ts";

describe("a redactor", () => {
  it("finds a secret that begins inside the beginning of another one", () => {
    const { text } = createRedactor(["harbour-master-1", "master-and-mate"]);
    assert.equal(text("the harbour-master-and-mate"), "the harbour-[redacted]");
    assert.equal(text("a desk-harbour-master-1"), "a desk-[redacted]");
  });

  it("finds a secret inside the beginning of another one", () => {
    const { text } = createRedactor(["harbour-master-house", "bour-mast"]);
    assert.equal(text("the harbour-mast"), "the har[redacted]");
    assert.equal(text("the harbour-master-houses"), "the [redacted]s");
  });

  it("holds back the beginning of a secret that ends a vendor's prefix", () => {
    const stream = createRedactor(["k-harbour"]).stream();
    assert.equal(stream.push("a desk-"), "a des");
    assert.equal(stream.push("harbour."), "[redacted].");
    assert.equal(stream.end(), "");
  });

  it("finds a vendor's key after the beginning of a secret, and none inside a word", () => {
    const key = `sk-${"a1".repeat(10)}`;
    for (const secrets of [[], ["of/sk-rope"], ["mask-and-rope"]])
      assert.equal(createRedactor(secrets).text(`ma${key} of/${key}`), `ma${key} of/[redacted]`);
  });
});
