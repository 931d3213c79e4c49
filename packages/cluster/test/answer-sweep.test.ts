/** Answers whose runs have not gone on are told again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import type { AnsweredApproval, PostgresStore } from "@bowline/postgres";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { AnswerSweep } from "../src/engine/answer-sweep.ts";

const answered = (index: number): AnsweredApproval => ({
  sessionId: "s",
  approvalId: `a${index}`,
  answer: { decision: "allow", at: 1 },
  position: String(index),
});

function rigOf(count: number) {
  const clock = new ManualClock();
  const all = Array.from({ length: count }, (_, index) => answered(index));
  const told: string[] = [];
  const asked: { before: number; after: string | undefined }[] = [];
  const errors: unknown[] = [];
  const failing: { error?: BowlineError; isSilent?: boolean } = {};
  const answeredSince = async (before: number, limit: number, after?: string) => {
    asked.push({ before, after });
    const from = after === undefined ? 0 : Number(after) + 1;
    return all.slice(from, from + limit);
  };
  const sweep = new AnswerSweep({
    store: { durable: { answeredSince } } as unknown as PostgresStore,
    restate: {
      async tellAnswer({ approvalId, answer }) {
        if (failing.error !== undefined) throw failing.error;
        if (failing.isSilent === true) await new Promise(() => {});
        assert.deepEqual(answer, { decision: "allow", at: 1 });
        told.push(approvalId);
      },
    },
    clock,
    report: (error) => errors.push(error),
  });
  return { clock, sweep, told, asked, errors, failing };
}

describe("a sweep of answers", () => {
  it("tells of all answers, page by page, and of each once a minute", async () => {
    const { clock, sweep, told, asked } = rigOf(130);
    for (let look = 0; look < 4; look++) await sweep.sweep();
    assert.equal(told.length, 130);
    assert.equal(new Set(told).size, 130);
    assert.deepEqual(
      asked.map(({ after }) => after),
      [undefined, "99", undefined, "99"],
    );
    assert.ok(asked.every(({ before }) => before === clock.now() - 2000));
    await clock.advance(61_000);
    for (let look = 0; look < 2; look++) await sweep.sweep();
    assert.equal(told.length, 260);
  });

  it("stops while Restate is away, and tells the answer afterwards", async () => {
    const { sweep, told, errors, failing } = rigOf(3);
    failing.error = new BowlineError("connection_failed", "away", { retryable: true });
    await sweep.sweep();
    assert.deepEqual([told, errors.length], [[], 1]);
    delete failing.error;
    await sweep.sweep();
    assert.deepEqual(told, ["a0", "a1", "a2"]);
  });

  it("gives up waiting for Restate after a while", async () => {
    const { clock, sweep, asked, failing } = rigOf(2);
    failing.isSilent = true;
    const done = sweep.sweep();
    await clock.advance(2000);
    await done;
    await Promise.all([sweep.sweep(), clock.advance(2000)]);
    assert.deepEqual(
      asked.map(({ after }) => after),
      [undefined, undefined],
    );
  });
});
