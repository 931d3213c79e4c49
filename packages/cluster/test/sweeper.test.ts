/** Messages that wait are told again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import type { PostgresStore, WaitingMessage } from "@bowline/postgres";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { Sweeper } from "../src/engine/sweeper.ts";

interface Rig {
  readonly clock: ManualClock;
  readonly sweeper: Sweeper;
  readonly told: string[];
  readonly asked: { readonly before: number; readonly after: string | undefined }[];
  readonly errors: unknown[];
  waiting: string[];
  failure: BowlineError | undefined;
  sweptOthers: number;
}

function rigOf(waiting: string[]): Rig {
  const clock = new ManualClock();
  const rig = {
    clock,
    told: [],
    asked: [],
    errors: [],
    waiting,
    failure: undefined,
    sweptOthers: 0,
  } as Omit<Rig, "sweeper"> & { sweeper?: Sweeper };
  const waitingSince = async (before: number, limit: number, after?: string) => {
    rig.asked.push({ before, after });
    const from = after === undefined ? 0 : Number(after) + 1;
    return rig.waiting.slice(from, from + limit).map((id, index): WaitingMessage => ({
      sessionId: "s",
      id,
      queue: "start",
      message: { role: "user", content: id, timestamp: 1 },
      at: 1,
      runId: id,
      position: String(from + index),
    }));
  };
  rig.sweeper = new Sweeper({
    store: { durable: { waitingSince } } as unknown as PostgresStore,
    restate: {
      async resend({ id }) {
        if (rig.failure !== undefined) throw rig.failure;
        rig.told.push(id);
      },
    },
    others: [
      { sweep: () => Promise.reject(new Error("the first other one")) },
      { sweep: () => Promise.resolve(void rig.sweptOthers++) },
    ],
    clock,
    report: (error) => rig.errors.push(error),
  });
  return rig as Rig;
}

const named = (count: number): string[] => Array.from({ length: count }, (_, at) => `m${at}`);

describe("a sweeper", () => {
  it("tells of all messages, page by page, and of each once a minute", async () => {
    const rig = rigOf(named(230));
    for (let look = 0; look < 5; look++) await rig.sweeper.sweep();
    assert.deepEqual(rig.told, named(230));
    assert.deepEqual(
      rig.asked.map(({ after }) => after),
      [undefined, "99", "199", undefined, "99"],
    );
    await rig.clock.advance(61_000);
    for (let look = 0; look < 3; look++) await rig.sweeper.sweep();
    assert.ok(rig.told.length >= 460);
    await rig.sweeper.close();
  });

  it("looks at messages that wait for five seconds, every few seconds", async () => {
    const rig = rigOf(["a"]);
    const begun = rig.clock.now();
    await rig.clock.advance(10_000);
    assert.ok(rig.asked.length >= 3 && rig.asked.length <= 5);
    assert.equal(rig.sweptOthers, rig.asked.length);
    assert.deepEqual(
      rig.errors.map(String),
      rig.asked.map(() => "Error: the first other one"),
    );
    assert.ok(rig.asked.every(({ before }) => before >= begun - 5000 && before <= begun + 5000));
    await rig.sweeper.close();
    const looks = rig.asked.length;
    await rig.clock.advance(10_000);
    assert.equal(rig.asked.length, looks);
  });

  it("stops at the first message while Restate is away, and tells it afterwards", async () => {
    const rig = rigOf(named(3));
    rig.failure = new BowlineError("connection_failed", "away", { retryable: true });
    await rig.sweeper.sweep();
    assert.equal(rig.errors.length, 1);
    rig.failure = undefined;
    await rig.sweeper.sweep();
    assert.deepEqual(rig.told, named(3));
    await rig.sweeper.close();
  });

  it("goes on after a message that Restate refuses", async () => {
    const rig = rigOf(named(3));
    rig.failure = new BowlineError("invalid_argument", "refused");
    await rig.sweeper.sweep();
    assert.equal(rig.errors.length, 3);
    await rig.sweeper.close();
  });
});
