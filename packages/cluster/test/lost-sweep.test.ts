/** Running runs that Restate does not have are ended without anybody touching their session. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ListedRun, PostgresStore } from "@bowline/postgres";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { LostSweep } from "../src/engine/lost-sweep.ts";

const listed = (index: number): ListedRun => ({
  sessionId: `s${index}`,
  runId: `r${index}`,
  state: "running",
  at: 1,
  position: String(index),
});

/** Restate has every session but the idle ones. The ended ones have ended since they were listed. */
function rigOf(count: number, { idle, ended = [] }: { idle: string[]; ended?: string[] }) {
  const clock = new ManualClock();
  const all = Array.from({ length: count }, (_, index) => listed(index));
  const asked: { before: number; after: string | undefined }[] = [];
  const compared: number[] = [];
  const news: string[] = [];
  const failing: { error?: Error } = {};
  const sweep = new LostSweep({
    store: {
      durable: {
        async runningSince(before: number, limit: number, after?: string) {
          asked.push({ before, after });
          const from = after === undefined ? 0 : Number(after) + 1;
          return all.slice(from, from + limit);
        },
      },
    } as unknown as PostgresStore,
    admin: {
      async idleSessions(sessionIds) {
        if (failing.error !== undefined) throw failing.error;
        compared.push(sessionIds.length);
        return sessionIds.filter((id) => idle.includes(id));
      },
      endLostRun: async (id) => (ended.includes(id) ? undefined : `run of ${id}`),
    },
    news: {
      over: (sessionKey, runId) => news.push(`over ${sessionKey} ${runId}`),
      changed: ({ sessionKey, change }) => news.push(`${change} ${sessionKey}`),
    },
    clock,
  });
  return { clock, sweep, asked, compared, news, failing };
}

describe("a sweep of lost runs", () => {
  it("ends the runs that Restate does not have, and tells their end", async () => {
    const { clock, sweep, news } = rigOf(3, { idle: ["s1", "s2"], ended: ["s2"] });
    await clock.advance(15_000);
    await sweep.sweep();
    assert.deepEqual(news, ["over s1 run of s1", "updated s1"]);
  });

  it("looks every fifteen seconds, at runs that are as old, page by page", async () => {
    const { clock, sweep, asked, compared } = rigOf(700, { idle: [] });
    await sweep.sweep();
    await clock.advance(14_999);
    await sweep.sweep();
    assert.equal(asked.length, 0);
    for (let look = 0; look < 3; look++) {
      await clock.advance(15_000);
      await sweep.sweep();
      assert.equal(asked.at(-1)?.before, clock.now() - 15_000);
    }
    assert.deepEqual(
      asked.map(({ after }) => after),
      [undefined, "499", undefined],
    );
    assert.deepEqual(compared, [500, 200, 500]);
  });

  it("compares a page again that Restate did not answer about", async () => {
    const { clock, sweep, asked, failing } = rigOf(600, { idle: [] });
    failing.error = new Error("away");
    await clock.advance(15_000);
    await assert.rejects(sweep.sweep(), /away/);
    delete failing.error;
    await clock.advance(15_000);
    await sweep.sweep();
    assert.deepEqual(
      asked.map(({ after }) => after),
      [undefined, undefined],
    );
  });
});
