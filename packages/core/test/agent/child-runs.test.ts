/** Calls of agent tools whose nested run the effects run instead of a step. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createAgentTool,
  createBudget,
  type AgentOptions,
  type AgentTool,
  type Effects,
  type RunResult,
} from "../../src/agent/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { rig } from "../support.ts";

type Child = NonNullable<Effects["child"]>;

const usage = { totalTokens: 100 };
const error = { code: "overloaded", message: "No room.", retryable: true } as const;
const looked = { runId: "n", reason: "done", text: "Looked.", usage, turns: 3 } as const;

/** An agent tool whose agent answers "Looked.", for 7 tokens. */
function research(): AgentTool {
  const { model, streamFn } = createScriptedModel([
    { content: [{ type: "text", text: "Looked." }], usage: { totalTokens: 7 } },
  ]);
  const createAgent = (): Agent => new Agent({ model, streamFn });
  return createAgentTool({ name: "research", description: "Looks.", createAgent });
}

/** A run whose model calls the agent tool once, as `a`, with these effects for the nested run. */
async function runWith(
  child: Child,
  options: AgentOptions = {},
  tool = research(),
): Promise<{
  readonly run: RunResult;
  readonly used: { readonly turns: number; readonly tokens: number };
  /** The tool's result as text. */
  readonly result: string;
  readonly durationMs: number | undefined;
}> {
  const budget = createBudget();
  const asks = { content: [scriptedToolCall("research", { prompt: "Look" }, "a")] };
  const settings = { budget, effects: { child }, ...options };
  const { agent, events } = rig([asks, "Done."], [tool], settings);
  const run = await agent.prompt("Hi");
  const { turns, tokens } = budget.used;
  const end = events.find((event) => event.type === "tool_execution_end");
  return {
    run,
    used: { turns, tokens },
    result: texts(run.messages)[2] ?? "",
    durationMs: end?.durationMs,
  };
}

describe("a nested run that the effects run", () => {
  it("has the name of the call's step, and can run in this process, where it charges the budget itself", async () => {
    const names: string[] = [];
    const { run, used, result } = await runWith((name, { here }) => (names.push(name), here()));
    assert.deepEqual([names, result], [["tool:1:a"], "toolResult: Looked."]);
    assert.deepEqual([run.reason, run.tools[0]?.outcome], ["done", "finished"]);
    assert.deepEqual(used, { turns: 3, tokens: 7 });
  });

  it("charges the budget with its result when it ran elsewhere", async () => {
    const { run, used, result } = await runWith(async () => looked);
    assert.deepEqual([run.tools[0]?.outcome, result], ["finished", "toolResult: Looked."]);
    assert.deepEqual(used, { turns: 5, tokens: 100 });
  });

  it("is a failed call with its error, and charges nothing, when it could not start", async () => {
    const { run, used, result } = await runWith(async () => ({ error }));
    assert.deepEqual([run.reason, run.tools[0]?.outcome], ["done", "failed"]);
    assert.deepEqual([result, used], ["toolResult: No room.", { turns: 2, tokens: 0 }]);
  });

  it("is a failed call when its agent cannot be created in this process", async () => {
    const createAgent = (): never => assert.fail("no agent");
    const tool = createAgentTool({ name: "research", description: "Looks.", createAgent });
    const { run, result } = await runWith((_name, { here }) => here(), {}, tool);
    assert.deepEqual([run.reason, run.tools[0]?.outcome], ["done", "failed"]);
    assert.equal(result, "toolResult: no agent");
  });

  it("is a stopped call when the run was aborted meanwhile", async () => {
    const { agent } = rig(
      [{ content: [scriptedToolCall("research", { prompt: "Look" }, "a")] }],
      [research()],
      { effects: { child: async () => (agent.abort(), { error }) } },
    );
    const { reason, tools } = await agent.prompt("Hi");
    assert.deepEqual([reason, tools[0]?.outcome], ["aborted", "stopped"]);
  });

  it("ends the caller's run when it cannot be recorded", async () => {
    const { run } = await runWith(() => Promise.reject(new Error("disk full")));
    assert.deepEqual([run.reason, run.error?.code], ["error", "storage_failed"]);
    assert.match(run.error?.message ?? "", /disk full/);
    assert.equal(run.tools[0]?.outcome, "unknown");
  });

  it("takes the time between the start and the result, and its tool's limit is for the effects", async () => {
    const clock = new ManualClock();
    const limits: unknown[] = [];
    const child: Child = async (_name, { timeoutMs }) => {
      limits.push(timeoutMs);
      await clock.advance(250);
      return looked;
    };
    const durations: unknown[] = [];
    const onLimit = { ...research(), timeoutMs: 100 };
    for (const tool of [research(), onLimit]) {
      const { durationMs } = await runWith(child, { clock, toolTimeoutMs: 200 }, tool);
      durations.push(durationMs);
    }
    assert.deepEqual(
      [durations, limits],
      [
        [250, 250],
        [200, 100],
      ],
    );
  });

  it("passes its result to afterToolCall, whose verdict is recorded, if there is one", async () => {
    const decided: string[] = [];
    const child = async (): Promise<typeof looked> => looked;
    const effects: Partial<Effects> = {
      child,
      decide: (name, fn) => (decided.push(name), fn()),
    };
    const plain = await runWith(child, { effects });
    assert.deepEqual([plain.result, decided], ["toolResult: Looked.", []]);
    const { result } = await runWith(child, {
      effects,
      afterToolCall: ({ result: given }) => ({
        content: [...(given.content ?? []), { type: "text", text: " And checked." }],
      }),
    });
    assert.deepEqual([result, decided], ["toolResult: Looked. And checked.", ["after:1:a"]]);
  });
});
