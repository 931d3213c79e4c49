/** The events of a run that are buffered for reconnecting clients. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunLog } from "../../src/gateway/log/run-log.ts";

/** Creates a log with `count` deltas of equal length. */
function logOf(count: number, limits: { maxEvents?: number; maxLength?: number }): RunLog {
  const { maxEvents = 1e9, maxLength = 1e9 } = limits;
  const log = new RunLog({ runId: "r", sessionKey: "s", maxEvents, maxLength, publish: () => {} });
  for (let at = 0; at < count; at++) log.append("chat.delta", { turn: 0, text: "x".repeat(100) });
  return log;
}

/** Returns the number of buffered events after `seq`, or 0 if the log returns a snapshot. */
function heldAfter(log: RunLog, seq: number): number {
  const frames = log.since(seq);
  return frames.some(({ event }) => event === "chat.snapshot") ? 0 : frames.length;
}

function heldIn(log: RunLog, count: number): number {
  for (let seq = -1; seq < count; seq++) if (heldAfter(log, seq) > 0) return heldAfter(log, seq);
  return 0;
}

describe("the log of a run", () => {
  it("buffers between half of the maximum and the maximum of events, regardless of their number", () => {
    for (let count = 1; count <= 60; count++) {
      const held = heldIn(logOf(count, { maxEvents: 10 }), count);
      assert.ok(held <= 10 && held >= Math.min(count, 5), `${held} of ${count}`);
    }
  });

  it("buffers between half of the maximum and the maximum length, regardless of the total", () => {
    const [{ frame } = assert.fail("no event")] = logOf(1, {}).since(-1);
    const maxLength = 10.5 * (frame.json.length + 1);
    for (let count = 1; count <= 60; count++) {
      const held = heldIn(logOf(count, { maxLength }), count);
      assert.ok(held <= 10 && held >= Math.min(count, 5), `${held} of ${count}`);
    }
  });

  it("returns the events after a number, or a snapshot if they are not buffered", () => {
    const log = logOf(10, {});
    for (let seq = -1; seq < 10; seq++) assert.equal(log.since(seq).length, 9 - seq);
    const one = logOf(10, { maxLength: 1 });
    assert.equal(one.since(8).length, 1);
    for (const seq of [undefined, -1, 7, 10, 1000]) {
      const [first, ...others] = one.since(seq);
      assert.deepEqual([first?.event, others], ["chat.snapshot", []], String(seq));
    }
    assert.deepEqual(logOf(0, {}).since(undefined), []);
  });

  it("says how much memory it uses: its buffered events, and the text from which it is rebuilt", () => {
    for (const [count, held] of [
      [0, 0],
      [1, 1],
      [10, 10],
    ] as const) {
      const log = logOf(count, {});
      const length = log.since(-1).reduce((sum, { frame }) => sum + frame.json.length, 0);
      assert.ok(log.size >= 2 * length + 100 * held, `${log.size} for ${length}`);
      assert.ok(log.size <= 2 * length + 1000 * held, `${log.size} for ${length}`);
    }
    const [large, trimmed] = [logOf(50, {}), logOf(50, { maxEvents: 10 })];
    assert.ok(trimmed.size < large.size * 0.7, `${trimmed.size} of ${large.size}`);
  });

  it("returns a snapshot of an ended run together with its last event", () => {
    const log = logOf(3, { maxLength: 1 });
    log.append("chat.final", { usage: {}, stopReason: "stop" } as never);
    const [snapshot, end, ...others] = log.since(undefined);
    assert.deepEqual([snapshot?.frame.seq, end?.frame.seq, others], [2, 3, []]);
    assert.equal(end?.event, "chat.final");
  });
});
