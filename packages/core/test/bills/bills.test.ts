/** Runs, budgets and sessions report what model servers billed, however each call ended. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { AnswerPlan } from "./mock-server.ts";
import { play, type Plan } from "./play.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const RUNS = sweep({ long: 500, short: 100, variable: "BOWLINE_BILL_RUNS" });

const answer: fc.Arbitrary<AnswerPlan> = fc.record({
  kind: fc.constantFrom<AnswerPlan["kind"][]>(
    "text",
    "tool",
    "tool",
    "agent",
    "output",
    "empty",
    "cut",
    "broken",
    "tooLong",
    "refused",
    "down",
    "hangs",
  ),
  input: fc.integer({ min: 1, max: 2000 }),
  output: fc.integer({ min: 1, max: 300 }),
  cached: fc.integer({ min: 0, max: 100 }),
  hasTotal: fc.boolean(),
});

const plans: fc.Arbitrary<Plan> = fc.record({
  wire: fc.constantFrom("chat", "messages"),
  hasFailover: fc.boolean(),
  retriesAfterOutput: fc.boolean(),
  compaction: fc.constantFrom("none", "plain", "shared"),
  subAgent: fc.constantFrom("none", "plain", "shared"),
  budget: fc.constantFrom("none", "plain", "shared"),
  maxTurns: fc.integer({ min: 1, max: 40 }),
  maxCost: fc.constantFrom(0.001, 0.01, 1),
  forOutput: fc.boolean(),
  prompts: fc.integer({ min: 1, max: 3 }),
  session: fc.constantFrom("none", "kept", "failing"),
  failsAt: fc.nat(20),
  answers: fc.array(answer, { maxLength: 20 }),
});

/** A cut answer, then a request that is too long, and an abort during its summary. */
const abortedSummary: Plan = {
  wire: "chat",
  hasFailover: false,
  retriesAfterOutput: true,
  compaction: "plain",
  subAgent: "none",
  budget: "none",
  maxTurns: 9,
  maxCost: 1,
  forOutput: false,
  prompts: 1,
  session: "none",
  failsAt: 0,
  answers: (["tool", "tool", "cut", "tooLong", "hangs"] as const).map((kind) => ({
    kind,
    input: 1,
    output: 1,
    cached: 0,
    hasTotal: false,
  })),
};

describe("the cost of a run", () => {
  it(
    "is counted once by results, budgets and sessions",
    { timeout: 60_000 + RUNS * 60 },
    async () => {
      const seen = { calls: 0, sessions: 0, budgets: 0 };
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          const { bill, usage, budget, session } = await play(plan);
          seen.calls += bill.calls;
          const told = { result: [usage.totalTokens ?? 0, usage.cost?.total ?? 0] };
          const all: Record<string, number[]> = told;
          if (budget) all.budget = [budget.used.tokens, budget.used.cost];
          if (session) all.session = [session.totalTokens ?? 0, session.cost?.total ?? 0];
          if (budget) seen.budgets++;
          if (session) seen.sessions++;
          for (const [where, [tokens = 0, cost = 0]] of Object.entries(all)) {
            assert.equal(tokens, bill.tokens, where);
            assert.ok(Math.abs(cost - bill.cost) < 1e-9, `${where}: $${cost}, not $${bill.cost}`);
          }
          const { turns = 0, tokens = 0 } = budget?.used.reserved ?? {};
          assert.deepEqual([turns, tokens], [0, 0], "reserved");
        }),
        { numRuns: RUNS, examples: [[abortedSummary]] },
      );
      assert.ok(seen.calls > RUNS && seen.sessions > RUNS / 10 && seen.budgets > RUNS / 10);
    },
  );
});
