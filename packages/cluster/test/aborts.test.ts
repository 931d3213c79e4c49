/** Aborts of runs that Restate has, may have lost, or cannot be asked about. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import type { OpenRun, PostgresStore } from "@bowline/postgres";
import type { RestateAdmin, RestateClient } from "@bowline/restate";
import { GatewayError } from "bowline/engine";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { within } from "../../../test/support/within.ts";
import { abortRuns, quiet } from "../src/engine/aborts.ts";
import type { NewsDesk } from "../src/engine/news.ts";

/** A session with one running run, of which Restate takes no abort. */
function rigOf(endLostRun: RestateAdmin["endLostRun"]) {
  const clock = new ManualClock();
  const open: OpenRun[] = [{ sessionId: "s", runId: "r", state: "running", at: 1 }];
  const reported: unknown[] = [];
  const over: string[] = [];
  const parts = {
    store: {
      durable: { openRuns: async () => [...open], cancel: async () => [] },
    } as unknown as PostgresStore,
    restate: { abort: async () => false } as unknown as RestateClient,
    admin: { endLostRun } as unknown as RestateAdmin,
    news: {
      over: (_: string, runId: string) => over.push(runId),
      changed: () => {},
    } as unknown as NewsDesk,
    clock,
    report: (error: unknown) => reported.push(error),
  };
  return { parts, open, reported, over, clock };
}

/** Resolves when the work is done, by a clock that runs for at most a minute. */
async function timed<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  for (let ms = 0; ms < 60_000; ms += 50) await clock.advance(50);
  return within("the work is done in a minute", work);
}

const silent = new BowlineError("server_error", "Restate answered 500: no such scanner");

describe("an abort", () => {
  it("ends a run that Restate has lost", async () => {
    const { parts, over, clock } = rigOf(async () => "r");
    assert.deepEqual(await timed(clock, abortRuns(parts, "s")), ["r"]);
    assert.deepEqual(over, ["r"]);
  });

  it("can be tried again while Restate's tables do not answer", async () => {
    const { parts, reported, clock } = rigOf(() => Promise.reject(silent));
    const busy = (error: unknown): boolean =>
      error instanceof GatewayError && error.frame.data?.retryable === true;
    await assert.rejects(timed(clock, abortRuns(parts, "s")), busy);
    assert.deepEqual(reported, [silent]);
  });
});

describe("what ends everything of a session", () => {
  it("waits for its runs also while Restate's tables do not answer", async () => {
    const { parts, open, reported, clock } = rigOf(() => Promise.reject(silent));
    parts.restate.abort = async () => {
      clock.setTimer(2500, () => open.pop());
      return true;
    };
    await timed(clock, quiet(parts, "s"));
    assert.deepEqual(reported, [silent]);
  });
});
