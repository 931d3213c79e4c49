/** Time measurements that setting the system clock does not change. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { monotonicNow, systemClock, type Clock } from "../src/clock.ts";
import { TimeLimits, type TimeLimit } from "../src/transport/time-limits.ts";
import { call, rig, tool } from "./support.ts";

const HOUR_MS = 3_600_000;

/** A clock whose time of day can be set while time passes. */
class SetClock implements Clock {
  /** The time of day at the start. */
  #day = 1_000_000;
  #passed = 0;
  #timers: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.#day + this.#passed;
  }

  monotonic(): number {
    return this.#passed;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#passed + ms, fire };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  setBack(ms: number): void {
    this.#day -= ms;
  }

  pass(ms: number): void {
    this.#passed += ms;
    for (const timer of this.#timers.filter(({ at }) => at <= this.#passed)) {
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.fire();
    }
  }
}

describe("a system clock that is set back", () => {
  it("does not extend a time limit", () => {
    const clock = new SetClock();
    const exceeded: TimeLimit[] = [];
    const limits = new TimeLimits(clock, (limit) => exceeded.push(limit));
    const limit = limits.add(1000, "sent nothing for");
    clock.pass(400);
    limit.since = monotonicNow(clock);
    clock.setBack(HOUR_MS);
    clock.pass(999);
    assert.deepEqual(exceeded, []);
    clock.pass(1);
    assert.deepEqual(exceeded, [limit]);
  });

  it("does not change a tool's measured duration", async () => {
    const clock = new SetClock();
    const slow = tool("slow", () => {
      clock.pass(250);
      clock.setBack(HOUR_MS);
      return "Done.";
    });
    const { agent, events } = rig([call("slow"), "Done."], [slow], { clock });
    await agent.prompt("Hi");
    const end = events.find((event) => event.type === "tool_execution_end");
    assert.equal(end?.durationMs, 250);
  });
});

describe("the monotonic clock", () => {
  it("of the system measures whole milliseconds and never goes back", () => {
    const times = Array.from({ length: 1000 }, () => monotonicNow(systemClock));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times.every(Number.isInteger));
    assert.notEqual(times[0], Math.round(systemClock.now()));
  });

  it("falls back to now() for a clock without its own", () => {
    assert.equal(monotonicNow({ now: () => 7, setTimer: () => () => {} }), 7);
  });
});
