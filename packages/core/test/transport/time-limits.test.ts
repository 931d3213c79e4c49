/** Several time limits that share one timer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TimeLimits } from "../../src/transport/time-limits.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";

/** Fails for limits that set timers without end. */
class FewTimers extends ManualClock {
  #count = 0;

  override setTimer(ms: number, fire: () => void): () => void {
    assert.ok(++this.#count <= 20, "more than 20 timers");
    return super.setTimer(ms, fire);
  }
}

function rig(): { clock: ManualClock; limits: TimeLimits; exceeded: string[] } {
  const clock = new FewTimers();
  const exceeded: string[] = [];
  const limits = new TimeLimits(clock, ({ fault }) => exceeded.push(fault));
  return { clock, limits, exceeded };
}

describe("time limits", () => {
  it("use one timer, which fires at the earliest end", async () => {
    const { clock, limits, exceeded } = rig();
    limits.add(1000, "long");
    limits.add(500, "short");
    limits.add(700, "middle");
    assert.equal(clock.pending, 1);
    await clock.advance(499);
    assert.deepEqual(exceeded, []);
    await clock.advance(1);
    assert.deepEqual(exceeded, ["short"]);
  });

  it("leave no timer when they are stopped", async () => {
    const { clock, limits, exceeded } = rig();
    limits.add(500, "short");
    limits.stop();
    assert.equal(clock.pending, 0);
    await clock.advance(1000);
    assert.deepEqual(exceeded, []);
  });

  it("start again from a later time, and end when they are removed", async () => {
    const { clock, limits, exceeded } = rig();
    const idle = limits.add(500, "idle");
    const total = limits.add(800, "total");
    await clock.advance(400);
    idle.since = clock.now();
    await clock.advance(300);
    assert.deepEqual(exceeded, []);
    limits.remove(total);
    await clock.advance(199);
    assert.deepEqual(exceeded, []);
    await clock.advance(1);
    assert.deepEqual(exceeded, ["idle"]);
  });

  it("of 0 ms do not exist, and one that has ended already is exceeded at once", () => {
    const { clock, limits, exceeded } = rig();
    limits.add(0, "none");
    assert.equal(clock.pending, 0);
    limits.add(500, "before", clock.now() - 500);
    assert.deepEqual(exceeded, ["before"]);
  });
});
