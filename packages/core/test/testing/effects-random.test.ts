/** Random runs, stopped at random moments: they make the same calls and end the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AgentTool } from "../../src/agent/index.ts";
import { requireApproval } from "../../src/agent/index.ts";
import { assertSame, play } from "../../src/testing/effects/play.ts";
import { billed, slow } from "../../src/testing/effects/parts.ts";
import type { Scenario } from "../../src/testing/effects/scenario.ts";
import { createJournalHarness } from "../../src/testing/index.ts";
import { sweep } from "../../../../test/support/sweep.ts";

interface Call {
  readonly ms: number;
  readonly replay: "never" | "safe";
  readonly asks: boolean;
  readonly usage: number;
  readonly fails: boolean;
}

const oneCall: fc.Arbitrary<Call> = fc.record({
  ms: fc.integer({ min: 0, max: 50 }),
  replay: fc.constantFrom("never", "safe"),
  asks: fc.boolean(),
  usage: fc.constantFrom(0, 0, 700),
  fails: fc.boolean(),
});

const plan = fc.record({
  turns: fc.array(fc.array(oneCall, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  isSequential: fc.boolean(),
  width: fc.constantFrom(undefined, 1, 2),
  maxTokens: fc.constantFrom(undefined, undefined, 600, 1500),
  allows: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

function scenarioOf({ turns, isSequential, width, maxTokens, allows }: Plan): Scenario {
  const nameOf = (turn: number, index: number): string => `t${turn}_${index}`;
  return {
    answers: [
      ...turns.map((calls, turn) =>
        billed(
          calls.map((_, index) => nameOf(turn, index)),
          100,
        ),
      ),
      billed("Done.", 100),
    ],
    tools: (world) =>
      turns.flatMap((calls, turn) =>
        calls.map(({ ms, replay, asks, usage, fails }, index): AgentTool => {
          const tool = slow(world, nameOf(turn, index), ms, { replay });
          return {
            ...tool,
            ...(asks && { needsApproval: true }),
            execute(id, args, signal, update, context) {
              // The usage of a call whose outcome is unknown is unknown too.
              if (usage > 0 && replay === "safe") context?.run.addUsage({ totalTokens: usage });
              if (fails) throw new Error(`${tool.name} fails`);
              return tool.execute(id, args as never, signal, update, context);
            },
          };
        }),
      ),
    config: () => ({
      beforeToolCall: requireApproval({ needed: () => false }),
      toolExecution: isSequential ? "sequential" : "parallel",
      ...(width !== undefined && { maxParallelTools: width }),
      ...(maxTokens !== undefined && { budget: { maxTokens } }),
    }),
    onWait: ({ harness }, name) => harness.answer(name, { decision: allows ? "allow" : "deny" }),
    check: () => {},
  };
}

const call = (asks: boolean, fails: boolean): Call => ({
  ms: 0,
  replay: "never",
  asks,
  usage: 0,
  fails,
});

/** The stop comes when a failed call's result is in the journal, and the loop does not have it. */
const recordedLate: Plan = {
  turns: [
    [call(false, false)],
    [call(true, false), call(false, false), call(true, false)],
    [call(true, false), call(true, true), call(true, true)],
  ],
  isSequential: false,
  width: undefined,
  maxTokens: undefined,
  allows: true,
};

const RUNS = sweep({ long: 30, short: 12 });

describe("random runs over a journal", () => {
  it("make the same calls and end the same, wherever up to two attempts are stopped", async () => {
    let stopped = 0;
    await fc.assert(
      fc.asyncProperty(plan, fc.nat(), fc.nat(), async (chosen, first, second) => {
        const scenario = scenarioOf(chosen);
        const create = (): ReturnType<typeof createJournalHarness> => createJournalHarness();
        const whole = await play(scenario, create);
        const stops = whole.attempts[0]?.stops ?? [];
        const one = stops[first % stops.length];
        assert.ok(one !== undefined);
        const once = await play(scenario, create, [one]);
        assertSame(whole, once);
        const later = once.attempts[1]?.stops ?? [];
        const two = later[second % Math.max(1, later.length)];
        if (two === undefined) return;
        assertSame(whole, await play(scenario, create, [one, two]));
        stopped++;
      }),
      { numRuns: RUNS, examples: [[recordedLate, 1628705471, 0]] },
    );
    assert.ok(stopped > RUNS / 2, `only ${stopped} runs were stopped twice`);
  });
});
