import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, createBudget, type AgentOptions } from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { createScriptedModel, type ScriptedStep } from "../../src/testing/index.ts";
import { call, rig, tool } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";

const used = (tokens: number, cost?: number): { usage: object } => ({
  usage: { totalTokens: tokens, ...(cost !== undefined && { cost: { total: cost } }) },
});
const again = (tokens: number): ScriptedStep => ({ ...call("a"), ...used(tokens) });
const a = tool("a", () => "1");

describe("a budget", () => {
  it("is not overdrawn: each call reserves what the last one used, and is not made when that does not fit", async () => {
    const { agent, script } = rig([again(3), again(3), again(3), again(3)], [a], {
      budget: { maxTokens: 10 },
    });
    const run = await agent.prompt("Hi");
    assert.equal(run.reason, "budget");
    assert.equal(script.calls.length, 3);
    assert.match(run.error?.message ?? "", /10 tokens/);
  });

  it("ignores empty usage fields of unknown servers", async () => {
    for (const nothing of [undefined, null]) {
      const usage = { input: 3, output: 4, cacheRead: nothing, cost: nothing } as object;
      const { agent } = rig(
        [
          { ...call("a"), usage },
          { content: [{ type: "text", text: "Hi" }], usage },
        ],
        [a],
      );
      const run = await agent.prompt("Hi");
      assert.deepEqual([run.reason, run.usage.input, run.usage.output], ["done", 6, 8]);
    }
  });

  it("allows no call when a limit is not a number", async () => {
    for (const limit of ["maxTurns", "maxTokens", "maxCost", "maxTimeMs"]) {
      const { agent, script } = rig(["Hi"], [], {
        budget: { [limit]: Number("ten") },
        clock: new ManualClock(),
      });
      const run = await agent.prompt("Hi");
      assert.deepEqual([run.error?.code, script.calls.length], ["budget_exceeded", 0], limit);
    }
  });

  it("allows no call when a limit is 0", async () => {
    for (const limit of ["maxTurns", "maxTokens", "maxCost", "maxTimeMs"]) {
      const { agent, script } = rig(["Hi"], [], {
        budget: { [limit]: 0 },
        clock: new ManualClock(),
      });
      const run = await agent.prompt("Hi");
      assert.deepEqual([run.error?.code, script.calls.length], ["budget_exceeded", 0], limit);
    }
  });

  it("of one agent counts each run by itself", async () => {
    const { agent } = rig(["1", "2"], [], { budget: { maxTurns: 1 } });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal((await agent.prompt("Hi")).reason, "done");
  });

  it("that is shared counts the usage of every run it is given to", async () => {
    const budget = createBudget({ maxTurns: 3 });
    const { agent } = rig([call("a"), "Done."], [a], { budget });
    const other = rig([call("a"), "Done."], [a], { budget });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    const run = await other.agent.prompt("Hi");
    assert.equal(run.reason, "budget");
    assert.equal(other.script.calls.length, 1);
    assert.deepEqual([budget.used.turns, budget.used.tokens, budget.used.cost], [3, 0, 0]);
  });

  it("continues from its JSON in another process", async () => {
    let kept = JSON.stringify(createBudget({ maxTurns: 2 }));
    const reasons = [];
    for (let process = 0; process < 3; process++) {
      const budget = JSON.parse(kept) as ReturnType<typeof createBudget>;
      reasons.push((await rig(["Hi"], [], { budget }).agent.prompt("Hi")).reason);
      kept = JSON.stringify(budget);
    }
    assert.deepEqual(reasons, ["done", "done", "budget"]);
  });

  it("is reserved before a call, so that concurrent runs cannot both spend the rest", async () => {
    const budget = createBudget({ maxTurns: 5 });
    const scripts = Array.from({ length: 4 }, () =>
      createScriptedModel([call("a"), call("a"), "Done."], { delayMs: 1 }),
    );
    const runs = await Promise.all(
      scripts.map((script) =>
        new Agent({
          initialState: { model: script.model, tools: [a] },
          streamFn: script.streamFn,
          budget,
        } satisfies AgentOptions).prompt("Hi"),
      ),
    );
    assert.equal(
      scripts.reduce((sum, script) => sum + script.calls.length, 0),
      5,
    );
    assert.ok(runs.every(({ reason }) => reason === "budget"));
    assert.equal(budget.used.turns, 5);
  });

  it("keeps one estimate for all runs: the first call of a run reserves what the last call of any run used", async () => {
    const budget = createBudget({ maxTokens: 50 });
    const { agent } = rig([{ content: [{ type: "text", text: "Hi" }], ...used(10) }], [], {
      budget,
    });
    await agent.prompt("Hi");
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => {
        const script = createScriptedModel([again(10), again(10)], { delayMs: 1 });
        return new Agent({
          initialState: { model: script.model, tools: [a] },
          streamFn: script.streamFn,
          budget,
        }).prompt("Hi");
      }),
    );
    assert.equal(budget.used.tokens, 50);
    assert.ok(runs.every(({ reason }) => reason === "budget"));
  });

  it("allows no call when other runs used it up while this run waited for hooks", async () => {
    const budget = createBudget({ maxCost: 1 });
    const other = rig([{ content: [{ type: "text", text: "Dear." }], ...used(1, 2) }], [], {
      budget,
    });
    const { agent, script } = rig(["Never asked."], [], {
      budget,
      transformContext: async (messages) => {
        await other.agent.prompt("Hi");
        return messages;
      },
    });
    assert.deepEqual([(await agent.prompt("Hi")).reason, script.calls.length], ["budget", 0]);
    const { unfinished, ...sums } = budget.used;
    assert.deepEqual(sums, { turns: 1, tokens: 1, cost: 2, last: used(1, 2).usage });
    assert.equal(unfinished?.length, 1);
  });

  it("counts a call before its message is emitted", async () => {
    const budget = createBudget({ maxCost: 1 });
    const { agent } = rig([{ content: [{ type: "text", text: "Dear." }], ...used(1, 2) }], [], {
      budget,
    });
    const costs: number[] = [];
    agent.subscribe((event) => {
      if (event.type === "message_end" && event.message.role === "assistant")
        costs.push(budget.used.cost);
    });
    await agent.prompt("Hi");
    assert.deepEqual(costs, [2]);
  });

  it("gets back what was reserved and not used", async () => {
    const budget = createBudget({ maxTokens: 1000 });
    const { agent } = rig(
      [again(100), { content: [{ type: "text", text: "Done." }], ...used(7) }],
      [a],
      { budget },
    );
    await agent.prompt("Hi");
    assert.equal(budget.used.tokens, 107);
    assert.equal(budget.used.turns, 2);
  });

  it("of money stops at the limit, not after it", async () => {
    const dear: ScriptedStep = { ...call("a"), ...used(1, 0.4) };
    const { agent, script } = rig([dear, dear, dear], [a], { budget: { maxCost: 1 } });
    const run = await agent.prompt("Hi");
    assert.equal(script.calls.length, 2);
    assert.match(run.error?.message ?? "", /\$1/);
  });

  it("of money is refused for a model without prices, before any request", async () => {
    for (const budget of [{ maxCost: 1 }, createBudget({}, createBudget({ maxCost: 1 }))]) {
      const script = createScriptedModel(["Never asked."]);
      const { cost: _, ...model } = script.model;
      const { agent } = rig([], [], { budget });
      agent.state.model = model;
      agent.streamFn = script.streamFn;
      const run = await agent.prompt("Hi");
      assert.deepEqual([run.reason, run.error?.code], ["error", "invalid_argument"]);
      assert.match(run.error?.message ?? "", /maxCost needs the prices of model scripted/);
      assert.equal(script.calls.length, 0);
    }
  });

  it("without a limit of money allows a model without prices", async () => {
    const { cost: _, ...model } = createScriptedModel([]).model;
    const { agent } = rig(["Hi"], [], { budget: { maxCost: Infinity } });
    agent.state.model = model;
    assert.equal((await agent.prompt("Hi")).reason, "done");
  });

  it("adds input and output when a server reports no total, and counts the known usage of a cut answer", async () => {
    const budget = createBudget({ maxTokens: 1000 });
    const usage = { input: 100, output: 20, cacheRead: 3 };
    const { agent } = rig(
      [
        { ...call("a"), usage },
        { content: [{ type: "text", text: "Hi" }], usage: { input: 50 } },
      ],
      [a],
      { budget },
    );
    const run = await agent.prompt("Hi");
    assert.deepEqual([budget.used.tokens, run.usage.totalTokens], [173, 173]);
  });

  it("reports what was used, without the reservations of pending calls", async () => {
    const budget = createBudget({ maxCost: 2 });
    const seen: unknown[] = [];
    const look = (): void => void seen.push([budget.used.cost, budget.used.reserved?.cost]);
    const dear = { ...call("a"), ...used(1, 0.4) };
    const { agent } = rig([dear, () => (look(), dear), "never"], [a], { budget });
    agent.budget = createBudget({ maxCost: 1 }, budget);
    const run = await agent.prompt("Hi");
    assert.deepEqual(seen, [[0.4, 0.4]]);
    assert.deepEqual([budget.used.cost, budget.used.reserved?.cost], [0.8, 0]);
    const message =
      "The run used $0.8 of its budget of $1, which has no room for another model call.";
    assert.equal(run.error?.message, message);
    assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(budget)).used as object).toSorted(), [
      "cost",
      "last",
      "tokens",
      "turns",
      "unfinished",
    ]);
  });

  it("reports the used part, without what other runs have reserved", async () => {
    const budget = createBudget({ maxTurns: 2 });
    let refused: string | undefined;
    const look = async (): Promise<void> => {
      const { error } = await rig(["never"], [], { budget }).agent.prompt("Hi");
      refused = error?.message;
    };
    const { agent } = rig([call("a"), () => look().then(() => "Done.")], [a], { budget });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal(
      refused,
      "The run used 1 of its budget of 2 turns, which has no room for another model call.",
    );
  });

  it("reports a limit that was used exactly as used up", async () => {
    for (const [budget, words] of [
      [{ maxTurns: 2 }, "2 turns"],
      [{ maxTokens: 10 }, "10 tokens"],
      [{ maxCost: 1 }, "$1"],
    ] as const) {
      const half = { ...call("a"), ...used(5, 0.5) };
      const { agent, script } = rig([half, half, "never"], [a], { budget });
      const { error } = await agent.prompt("Hi");
      assert.equal(error?.message, `The run used its budget of ${words}.`);
      assert.equal(script.calls.length, 2);
    }
  });

  it("has its whole limit again once all reserved calls have ended", async () => {
    const budget = createBudget({ maxCost: 4.2 });
    // Subtracting these amounts from their sum leaves a rounding error.
    const gates = [1.3, 2.9].map((cost) => ({ cost, answer: deferred<string>() }));
    const runs = gates.map(({ cost, answer }) => {
      const own = createBudget({}, budget);
      own.used.last = { cost: { total: cost } };
      return rig([() => answer.promise], [], { budget: own }).agent.prompt("Hi");
    });
    await settle();
    const late = createBudget({}, budget);
    late.used.last = { cost: { total: 0.1 } };
    assert.equal((await rig(["never"], [], { budget: late }).agent.prompt("Hi")).reason, "budget");
    for (const [at, { answer }] of gates.entries()) {
      answer.resolve("Free.");
      assert.equal((await runs[at])?.reason, "done");
    }
    budget.used.last = { cost: { total: 1 } };
    const whole = { maxCost: 1, used: budget.used };
    assert.equal((await rig(["Hi"], [], { budget: whole }).agent.prompt("Hi")).reason, "done");
  });

  it("keeps its estimate when a call reports no usage", async () => {
    const budget = createBudget();
    for (const step of [
      { content: [{ type: "text" as const, text: "Hi" }], ...used(3, 0.4) },
      "Hi",
    ]) {
      await rig([step], [], { budget }).agent.prompt("Hi");
      assert.deepEqual(budget.used.last, used(3, 0.4).usage);
    }
  });

  it("charges a resumed run once in the same process, and in full in another", async () => {
    const budget = createBudget({ maxTurns: 9 });
    const failing = { error: new BowlineError("server_error", "No."), ...used(10) };
    const first = rig([{ ...call("a"), ...used(100) }, failing], [a], { budget });
    const { runId, turns, usage } = await first.agent.prompt("Hi");
    const counts = [];
    for (const shared of [budget, createBudget()]) {
      const { agent } = rig([{ content: [{ type: "text", text: "Done." }], ...used(7) }], [], {
        budget: shared,
      });
      agent.state.messages = first.agent.state.messages.slice(0, -1);
      const run = await agent.resume({ runId, turns: turns - 1, usage });
      counts.push([shared.used.tokens, run.usage.totalTokens, shared.used.unfinished]);
    }
    assert.deepEqual(counts, [
      [117, 117, undefined],
      [117, 117, undefined],
    ]);
  });

  it("names a run that failed again only once", async () => {
    const budget = createBudget({ maxTurns: 9 });
    const failing = { error: new BowlineError("server_error", "No.") };
    const { agent } = rig([failing, failing], [], { budget });
    const { runId, turns, usage } = await agent.prompt("Hi");
    assert.deepEqual(budget.used.unfinished, [runId]);
    await agent.resume({ runId, turns, usage });
    assert.deepEqual(budget.used.unfinished, [runId]);
  });

  it("of time has one deadline for all runs that share it", async () => {
    const clock = new ManualClock();
    const budget = createBudget({ maxTimeMs: 100 });
    const slow = tool(
      "a",
      (signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const first = rig([call("a")], [slow], { budget, clock });
    const running = first.agent.prompt("Hi");
    await clock.advance(60);
    const second = rig([call("a")], [slow], { budget, clock });
    const later = second.agent.prompt("Hi");
    await clock.advance(40);
    assert.equal((await running).reason, "budget");
    assert.equal((await later).reason, "budget");
    const third = await rig(["Hi"], [], { budget, clock }).agent.prompt("Hi");
    assert.equal(third.reason, "budget");
    assert.equal(third.turns, 0);
    assert.equal(clock.pending, 0);
  });
});
