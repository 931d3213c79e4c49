/** Model calls that a budget refuses or ends, as the effects and the clock of a run see it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBudget, createMemoryEffects, type Effects } from "../../src/agent/index.ts";
import { rig } from "../support.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";

describe("a model call that was not made", () => {
  for (const isUsedUp of [false, true])
    it(`${isUsedUp ? "is recorded as such" : "is not recorded as such if it was made"}, so that a replay does not bill it`, async () => {
      const budget = createBudget({ maxTurns: 1 });
      const memory = createMemoryEffects();
      const recorded: (true | undefined)[] = [];
      const effects: Partial<Effects> = {
        async step(name, work, about) {
          const result = await memory.step(name, work, about);
          if (about.kind === "model")
            recorded.push((result as { readonly isUnsent?: true }).isUnsent);
          return result;
        },
      };
      const { agent, script } = rig(["Hi"], [], {
        budget,
        effects: { ...memory, ...effects },
        // Another run draws on the budget while the hook runs.
        transformContext: (messages: readonly unknown[]) => {
          if (isUsedUp) budget.used.turns = 1;
          return messages as never;
        },
      });
      const { reason } = await agent.prompt("Hi");
      assert.deepEqual(
        [reason, script.calls.length, recorded],
        isUsedUp ? ["budget", 0, [true]] : ["done", 1, [undefined]],
      );
    });
});

it("a budget of time sets a timer for the run, which ends with it", async () => {
  const clock = new ManualClock();
  const { agent } = rig([() => new Promise<string>(() => {})], [], {
    clock,
    budget: { maxTimeMs: 100 },
    abortGraceMs: 10,
  });
  const run = agent.prompt("Hi");
  await settle();
  const pending = clock.pending;
  await clock.advance(200);
  assert.ok(pending > 0 && clock.pending === 0, `${pending} timers, then ${clock.pending}`);
  assert.equal((await run).reason, "budget");
});
