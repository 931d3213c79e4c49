/** The errors that clients get. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { errorNumbers } from "../../src/gateway/protocol/frame.ts";
import { GatewayError, toFrameError } from "../../src/gateway/protocol/gateway-error.ts";

describe("an error for the client", () => {
  it("says when to retry if the thrown error says so", () => {
    const error = new BowlineError("rate_limited", "Wait.", { retryable: true, retryAfterMs: 70 });
    assert.deepEqual(toFrameError(error), {
      code: errorNumbers.internal,
      message: "Wait.",
      data: { code: "rate_limited", retryable: true, retryAfterMs: 70 },
    });
  });

  it("has the number of its kind, and no time to retry after if there is none", () => {
    const error = new BowlineError("session_locked", "It is locked.");
    assert.deepEqual(toFrameError(error), {
      code: errorNumbers.conflict,
      message: "It is locked.",
      data: { code: "session_locked", retryable: false },
    });
  });

  it("is the refusal itself, or hides what is unknown", () => {
    const refusal = new GatewayError("not_found", "It is gone.");
    assert.equal(toFrameError(refusal), refusal.frame);
    const { message, data } = toFrameError(new Error("secret"));
    assert.deepEqual(data, { code: "internal", retryable: false });
    assert.doesNotMatch(message, /secret/);
  });
});
