/**
 * The invariants of the design, in thousands of random simulations. docs/project/testing.md
 * explains how it works and how to continue from a seed.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { drawPlan } from "./draw-plan.ts";
import { shrink } from "./shrink.ts";
import { Simulator } from "./simulate.ts";
import type { Done } from "./worker.ts";
import { isLong, sweep } from "../../../../test/support/sweep.ts";

/**
 * The same simulations each time, unless another base is given; `npm run simulate` tries new ones.
 */
const BASE = Number(process.env.BOWLINE_SIMULATION_SEED ?? 1);
const RUNS = sweep({ long: 20_000, short: 5000 });
/** The rarest circumstance happens 17 to 33 times in a whole sweep, depending on the seeds. */
const LEAST = isLong ? 5 : 1;
/** Simulations per request to the thread. */
const CHUNK = 250;

describe("random simulations", () => {
  const simulator = new Simulator();
  after(() => simulator[Symbol.dispose]());

  it(`keep every invariant in ${RUNS} runs, and cover every circumstance`, async (test) => {
    test.diagnostic(`base seed ${BASE}`);
    const census = new Map<string, number>();
    // In a thread, because the test runner follows each promise of this one, a third of the time.
    const worker = new Worker(new URL("worker.ts", import.meta.url));
    try {
      let runs = 0;
      for (let from = BASE; runs < RUNS; from += CHUNK) {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        worker.postMessage({ from, count: CHUNK });
        const [done] = (await once(worker, "message")) as [Done];
        if (done.findings.length > 0) assert.fail(done.findings.join("\n"));
        runs += done.runs;
        for (const [what, count] of done.census) census.set(what, (census.get(what) ?? 0) + count);
      }
    } finally {
      await worker.terminate();
    }
    test.diagnostic([...census].map(([what, count]) => `${what} ${count}`).join(", "));
    for (const what of mustHappen) {
      assert.ok(
        (census.get(what) ?? 0) >= LEAST,
        `${what} happened ${census.get(what) ?? 0} times`,
      );
    }
  });

  it("are the same for the same seed, to the last event", async () => {
    for (let seed = BASE; seed < BASE + 100; seed++) {
      const [one, other] = [
        await simulator.runPlan(drawPlan(seed), true),
        await simulator.runPlan(drawPlan(seed), true),
      ];
      assert.ok(one.trace.length > 0);
      assert.deepEqual(one.trace, other.trace);
    }
  });

  it("shrink to the steps that a failure needs", async () => {
    const hasAbort = (plan: ReturnType<typeof drawPlan>): boolean =>
      plan.agents.some(({ actions }) => actions.some(({ does }) => does === "abort"));
    let seed = BASE;
    while (!hasAbort(drawPlan(seed))) seed++;
    const { agents } = await shrink(drawPlan(seed), async (plan) => hasAbort(plan));
    const [agent] = agents;
    assert.equal(agents.length, 1);
    assert.deepEqual(
      [agent?.actions.length, agent?.answers, agent?.tools, agent?.starts],
      [1, [], [], []],
    );
  });
});

/** Circumstances that must occur; otherwise the simulations do not test them. */
const mustHappen = Object.entries({
  agent_end: ["done", "length", "error", "aborted", "budget"],
  tool_execution_end: ["finished", "failed", "stopped", "left_running", "not_started"],
  answer: ["stop", "toolUse", "length", "error", "aborted"],
  error: [
    "listener_failed",
    "hook_failed",
    "stream_truncated",
    "stream_corrupt",
    "stream_function_failed",
    "invalid_output",
  ],
  queued: ["steering", "followUp"],
})
  .flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`))
  .concat([
    "request_retry",
    "model_failover",
    "tool_execution_update",
    "approval_request",
    "approval_answer",
  ])
  .concat([
    "event of a nested run",
    "request on a strict wire",
    "value of a schema",
    "queue given back",
  ])
  .concat(["a record waits", "a record rejects", "a record never"]);
