/** The event log that the readers of a run share, under random orders of writing and reading. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { code } from "../../../../../test/support/error-code.ts";
import { within } from "../../../../../test/support/within.ts";
import { EventLog } from "../../../src/agent/stream/event-log.ts";

describe("EventLog", () => {
  it("gives each reader all events in order, or rejects once it is too far behind", async () => {
    const step = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ read: fc.integer({ min: 0, max: 2 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 }), fc.array(step), async (limit, steps) => {
        const log = new EventLog<number>(limit);
        const readers = [0, 1, 2].map(() => ({ next: 0, batches: log.batches(), isLost: false }));
        let written = 0;
        for (const one of steps) {
          if ("push" in one) for (let i = 0; i < one.push; i++) log.push(written++);
          const reader = "read" in one ? readers[one.read] : undefined;
          if (!reader || reader.isLost || reader.next === written) continue;
          if (written - reader.next > limit) {
            await assert.rejects(reader.batches.next(), code("reader_too_slow"));
            reader.isLost = true;
            continue;
          }
          const { value } = await reader.batches.next();
          assert.deepEqual(value, range(reader.next, written));
          reader.next = written;
        }
        log.end();
        for (const { isLost, next, batches } of readers) {
          if (isLost || written - next > limit) continue;
          if (next < written) assert.deepEqual((await batches.next()).value, range(next, written));
          assert.deepEqual(await batches.next(), { done: true, value: undefined });
        }
      }),
    );
  });

  it("wakes all waiting readers, and rejects them with the failure after the last event", async () => {
    const log = new EventLog<string>(10);
    const readers = [log.batches(), log.batches()];
    const waiting = readers.map((reader) => reader.next());
    log.push("a");
    assert.deepEqual(
      (await within("the first event", Promise.all(waiting))).map(({ value }) => value),
      [["a"], ["a"]],
    );
    const failing = readers.map((reader) => assert.rejects(reader.next(), /lost/));
    log.fail(new Error("lost"));
    await within("the failures", Promise.all(failing));
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
