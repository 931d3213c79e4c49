import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { formatAddress, parseAddress } from "../../src/page/address.ts";
import { duration, howItFailed } from "../../src/page/text/wording.ts";

describe("a duration in words", () => {
  it("rounds up to a minute instead of showing 60 seconds", () => {
    assert.deepEqual([0, 949, 950, 9949, 9950, 59_499, 59_500, 119_600, 3_600_000].map(duration), [
      "1 ms",
      "949 ms",
      "0.9 s",
      "9.9 s",
      "10 s",
      "59 s",
      "1 min 0 s",
      "2 min 0 s",
      "60 min 0 s",
    ]);
  });
});

describe("a call without success", () => {
  it("failed, unless its result begins with how it was stopped or left", () => {
    const results = {
      "The tool was stopped after 3.1 s. The run was aborted.": "stopped",
      "Error: The command was stopped after 0.4 s (The run was aborted.); its output until then:\na":
        "stopped",
      "The run was aborted. The tool was left running after 1.0 s and may still take effect.":
        "left",
      "[exit code 1]\nThe tool was stopped after 3.1 s.": "failed",
      "Not run: The run was aborted.": "failed",
    };
    for (const [output, how] of Object.entries(results)) assert.equal(howItFailed(output), how);
  });
});

describe("the address of the page", () => {
  it("reads the token raw, in Base64, and URL-encoded", () => {
    const token = "ab+/cd==";
    assert.equal(parseAddress(`#token=${token}`).token, token);
    assert.equal(parseAddress(`#token=${encodeURIComponent(token)}`).token, token);
  });

  it("reads the session that was written into it", () => {
    const keys = fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(keys, (sessionKey) =>
        assert.deepEqual(parseAddress(formatAddress(sessionKey)), { sessionKey }),
      ),
    );
  });
});
