import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { SeenRuns } from "../../src/gateway/client/seen-runs.ts";

const of = (seq: number): { runId: string; sessionKey: string; seq: number } => ({
  runId: "r",
  sessionKey: "s",
  seq,
});
const delta = (seq: number, firstSeq?: number): EventFrame => {
  return {
    event: "chat.delta",
    data: { ...of(seq), turn: 0, text: "x", ...(firstSeq !== undefined && { firstSeq }) },
  };
};
const snapshot = (seq: number): EventFrame => {
  return { event: "chat.snapshot", data: { ...of(seq), state: "running", blocks: [] } };
};
const final = (seq: number): EventFrame => ({
  event: "chat.final",
  data: { ...of(seq), usage: {}, stopReason: "stop" },
});

function following(): SeenRuns {
  const seen = new SeenRuns();
  seen.follow("s");
  return seen;
}

describe("the client's record of events", () => {
  it("drops events that were already seen", () => {
    const seen = following();
    assert.deepEqual(
      [delta(0), delta(1), delta(1), delta(0), delta(2)].map((frame) => seen.take(frame)),
      [true, true, false, false, true],
    );
    assert.deepEqual(
      [final(3), final(3), delta(4), snapshot(9)].map((frame) => seen.take(frame)),
      [true, false, false, false],
    );
  });

  it("requests missing events once, and accepts a snapshot in their place", () => {
    const seen = following();
    const all = { sessionKey: "s", runId: "r" };
    assert.deepEqual(
      [delta(0), delta(4), delta(5), snapshot(5), delta(6)].map((frame) => seen.take(frame)),
      [true, all, false, true, true],
    );
  });

  it("accepts joined deltas that continue, and requests a snapshot when they overlap", () => {
    const seen = following();
    assert.deepEqual(
      [delta(0), delta(7, 1)].map((frame) => seen.take(frame)),
      [true, true],
    );
    assert.deepEqual(seen.take(delta(12, 5)), { sessionKey: "s", runId: "r" });
  });

  it("requests a run of which it hears in the middle", () => {
    const seen = following();
    const all = { sessionKey: "s", runId: "r" };
    assert.deepEqual(
      [delta(7), delta(8), snapshot(8), delta(9)].map((frame) => seen.take(frame)),
      [all, false, true, true],
    );
    assert.equal(following().take(snapshot(7)), true);
  });

  it("says where a new connection resumes", () => {
    const seen = following();
    assert.deepEqual(seen.toResume(), [{ sessionKey: "s" }]);
    assert.deepEqual(seen.expect("s", "r"), { sessionKey: "s", runId: "r", seq: -1 });
    assert.deepEqual(seen.toResume(), [{ sessionKey: "s", runId: "r", seq: -1 }]);
    seen.take(delta(0));
    assert.deepEqual(seen.toResume(), [{ sessionKey: "s", runId: "r", seq: 0 }]);
    seen.take(final(1));
    assert.deepEqual(seen.toResume(), [{ sessionKey: "s" }]);
    assert.equal(seen.expect("s", "r"), undefined);
  });

  it("follows the session without a run that was dropped", () => {
    const seen = following();
    seen.take(delta(0));
    seen.drop("s", "r");
    assert.deepEqual(seen.toResume(), [{ sessionKey: "s" }]);
  });

  it("follows no session that was left", () => {
    const seen = following();
    seen.leave("s");
    assert.deepEqual([seen.follows("s"), seen.toResume()], [false, []]);
  });

  it("accepts an ended run again when its end is forgotten", () => {
    const seen = following();
    seen.take(delta(0));
    seen.take(final(1));
    assert.equal(seen.hasEnded("r"), true);
    seen.forgetEnd("r");
    assert.deepEqual([seen.hasEnded("r"), seen.take(snapshot(1))], [false, true]);
  });

  it("requests the missing events again on a new connection", () => {
    const seen = following();
    const all = { sessionKey: "s", runId: "r" };
    seen.take(delta(0));
    assert.deepEqual([seen.take(delta(4)), seen.take(delta(5))], [all, false]);
    seen.toResume();
    assert.deepEqual(seen.take(delta(6)), all);
  });

  it("ignores sessions that are not followed", () => {
    const seen = new SeenRuns();
    assert.deepEqual(
      [delta(5), delta(5)].map((frame) => seen.take(frame)),
      [true, true],
    );
  });
});
