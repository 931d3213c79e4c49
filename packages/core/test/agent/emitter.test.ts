/** When a run lets the rest of the process work between its events. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "../../src/agent/index.ts";
import { AbortGrace } from "../../src/agent/run/abort-grace.ts";
import { Emitter } from "../../src/agent/run/emitter.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";

/** The emitter looks at the time with every event of this number. */
const EVENTS = 16;
/** The longest time in milliseconds for which a run may keep the process busy. */
const BUSY_MS = 25;

/** An emitter whose deliveries and yields the test ends by hand. */
function setUp(): {
  readonly emit: (count?: number) => (Promise<void> | undefined)[];
  /** Ends the delivery of events from now on, by their numbers. */
  readonly slow: Map<number, Promise<void>>;
  readonly published: number[];
  readonly clock: ManualClock & { yields: number };
} {
  const clock = Object.assign(new ManualClock(), { yields: 0, yield: async () => {} });
  clock.yield = async () => void clock.yields++;
  const slow = new Map<number, Promise<void>>();
  const published: number[] = [];
  const emitter = new Emitter({
    runId: "r",
    seq: 0,
    effects: {
      publish({ seq }: AgentEvent) {
        published.push(seq);
        return slow.get(seq);
      },
    },
    clock,
    grace: new AbortGrace(clock, () => 0),
    hookTimeoutMs: 0,
    onFailure: (error) => assert.fail(error),
  });
  const emit = (count = 1): (Promise<void> | undefined)[] =>
    Array.from({ length: count }, () => emitter.emit({ type: "turn_start" }));
  return { emit, slow, published, clock };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("events without a slow listener", () => {
  it("are delivered at once while the run is not busy", async () => {
    const { emit, published, clock } = setUp();
    await clock.advance(BUSY_MS - 1);
    assert.ok(emit(2 * EVENTS).every((waiting) => waiting === undefined));
    assert.deepEqual([published, clock.yields], [upTo(2 * EVENTS), 0]);
  });

  it("wait once for the rest of the process when the run has been busy", async () => {
    const { emit, published, clock } = setUp();
    await clock.advance(BUSY_MS);
    void emit(EVENTS - 1);
    assert.equal(published.length, EVENTS - 1);
    const [waiting] = emit();
    assert.equal(published.length, EVENTS - 1);
    await waiting;
    assert.deepEqual([published, clock.yields], [upTo(EVENTS), 1]);
    assert.ok(emit(EVENTS).every((next) => next === undefined));
    assert.deepEqual([published, clock.yields], [upTo(2 * EVENTS), 1]);
  });
});

describe("events after one that is still being delivered", () => {
  it("follow one at a time, without a pause for the rest of the process", async () => {
    const { emit, slow, published, clock } = setUp();
    const ends = [deferred(), deferred()] as const;
    for (const [seq, end] of ends.entries()) slow.set(seq, end.promise);
    const waiting = emit(3);
    await settle();
    assert.deepEqual(published, [0]);
    ends[0].resolve();
    await settle();
    assert.deepEqual(published, [0, 1]);
    waiting.push(...emit());
    assert.deepEqual(published, [0, 1]);
    ends[1].resolve();
    for (const one of waiting) await one;
    assert.deepEqual([published, clock.yields], [[0, 1, 2, 3], 0]);
    assert.deepEqual(emit(), [undefined]);
    assert.deepEqual(published, [0, 1, 2, 3, 4]);
  });

  it("wait once for the rest of the process when the run has been busy", async () => {
    const { emit, slow, published, clock } = setUp();
    const end = deferred();
    slow.set(0, end.promise);
    const waiting = emit(2 * EVENTS);
    await clock.advance(BUSY_MS);
    end.resolve();
    for (const one of waiting) await one;
    assert.deepEqual([published, clock.yields], [upTo(2 * EVENTS), 1]);
  });
});
