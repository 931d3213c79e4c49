/** Scenarios: budgets, compaction, nested agents and output. */
import { Agent } from "../../agent/agent.ts";
import { createAgentTool } from "../../agent/agent-tool.ts";
import { createCompaction } from "../../agent/context/compaction.ts";
import type { AgentTool } from "../../agent/contract/tool.ts";
import { scriptedToolCall } from "../scripted-model.ts";
import { createScriptedModel } from "../scripted-model.ts";
import { check } from "../store/checks.ts";
import { billed, calls, doing, ended, slow } from "./parts.ts";
import type { Scenario, World } from "./scenario.ts";

/** A run that continues from its transcript does not run open calls when its budget is used up. */
const RESUMED = "replays";
const LIMIT = 100;
const word = "word ".repeat(400);

/** A tool whose call is a run of another agent, which uses this many tokens. */
function nestedTool(world: World, name: string, tokens: number): AgentTool {
  return {
    ...createAgentTool({
      name,
      description: "Looks something up.",
      parameters: { type: "object", properties: {} },
      prompt: () => "Look it up.",
      createAgent() {
        const { model, streamFn } = createScriptedModel([billed(`${name} found it.`, tokens)]);
        return new Agent({ model, streamFn, clock: world.clock });
      },
    }),
    replay: "safe",
  };
}

/** A tool that adds the usage of a model call of its own. */
function billing(name: string, totalTokens: number): AgentTool {
  const tool = doing(name, () => undefined);
  return {
    ...tool,
    execute(id, args, signal, update, context) {
      context?.run.addUsage({ totalTokens, input: totalTokens });
      return tool.execute(id, args as never, signal, update, context);
    },
  };
}

export const budgetScenarios: Readonly<Record<string, Scenario>> = {
  "a budget of turns": {
    answers: [calls("a"), calls("b"), calls("c"), "Done."],
    tools: (world) => ["a", "b", "c"].map((name) => slow(world, name, 10)),
    config: () => ({ budget: { maxTurns: 2 } }),
    only: RESUMED,
    check: ended("budget"),
  },

  "a budget of tokens on a server that reports none": {
    answers: [calls("a"), calls("b"), calls("c"), calls("d"), "Done."],
    tools: (world) =>
      ["a", "b", "c", "d"].map((name) =>
        slow(world, name, 10, {
          execute: async () => ({ content: [{ type: "text", text: word }] }),
        }),
      ),
    config: () => ({ budget: { maxTokens: 2500 } }),
    only: RESUMED,
    check(end) {
      ended("budget")(end);
      check(end.result.turns === 3, `the run had ${end.result.turns} turns, not 3`);
    },
  },

  "a budget of time": {
    answers: [calls("a"), calls("b"), calls("c"), "Done."],
    tools: (world) => ["a", "b", "c"].map((name) => slow(world, name, 45)),
    config: () => ({ abortGraceMs: 10, budget: { maxTimeMs: LIMIT } }),
    downtimeMs: 30,
    ends: "checked",
    check(end) {
      ended("budget")(end);
      check(end.elapsed <= LIMIT + 30, `the run took ${end.elapsed} ms, and had ${LIMIT}`);
    },
  },

  "a budget that the usage of a tool fills": {
    answers: [billed(["a"], 100), billed(["b"], 100), billed("Done.", 100)],
    tools: (world) => [billing("a", 5000), slow(world, "b", 10)],
    config: () => ({ budget: { maxTokens: 5150 } }),
    only: RESUMED,
    check(end) {
      ended("budget")(end);
      check(end.result.usage.totalTokens === 5100, `the usage is ${end.result.usage.totalTokens}`);
    },
  },

  "a budget that nested agents fill": {
    answers: [billed(["a", "b"], 100), billed(["c"], 100), billed("Done.", 100)],
    tools: (world) => [
      // Equal, because the one that ends first is the estimate for the other, and either may be.
      nestedTool(world, "a", 2500),
      nestedTool(world, "b", 2500),
      slow(world, "c", 10),
    ],
    config: () => ({ budget: { maxTokens: 5150 } }),
    // A session bills what a lost attempt at a nested run has used, and has that much less left.
    only: "replays",
    check: ended("budget"),
  },

  "nested agents": {
    answers: [billed(["a", "b"], 100), billed("Done.", 100)],
    tools: (world) => [nestedTool(world, "a", 2000), nestedTool(world, "b", 3000)],
    check: ended("done", "Done."),
  },

  "a compaction": {
    answers: [calls("a"), calls("b"), calls("c"), "Done."],
    tools: (world) =>
      ["a", "b", "c"].map((name) =>
        slow(world, name, 10, {
          // The last result is short, so that a run that has its summary needs no other one.
          execute: async () => ({ content: [{ type: "text", text: name === "c" ? "c" : word }] }),
        }),
      ),
    config(world) {
      const summary = createScriptedModel(
        Array.from({ length: 9 }, () => billed("What happened.", 50)),
      );
      const compaction = createCompaction({
        model: summary.model,
        streamFn: summary.streamFn,
        contextWindow: 1000,
        reserveTokens: 100,
        keepRecentTokens: 400,
        streamOptions: { clock: world.clock },
      });
      return { transformContext: compaction.transformContext, streamFn: byTools() };
    },
    check(end) {
      ended("done", "Done.")(end);
      const { totalTokens } = end.result.usage;
      check(totalTokens === 50, `the usage is ${totalTokens}, not that of one summary`);
    },
    // A session compacts its own transcript, and its next process has less to compact.
    only: "replays",
  },

  "an output": {
    answers: [
      calls("a"),
      { content: [scriptedToolCall("final_answer", { n: "no" }, "one")] },
      { content: [scriptedToolCall("final_answer", { n: 1 }, "two")] },
    ],
    tools: (world) => [slow(world, "a", 10)],
    output: {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    },
    check(end) {
      ended("done")(end);
      const output = JSON.stringify(end.result.output);
      check(output === '{"n":1}', `the output is ${output}`);
    },
  },
};

/** Answers by the results in the request, because a compacted one has fewer answers. */
function byTools(): World["streamFn"] {
  const after = { c: "Done.", b: calls("c"), a: calls("b") };
  return (model, context, options) => {
    const text = JSON.stringify(context.messages);
    const last = (["c", "b", "a"] as const).find((name) => text.includes(`"toolCallId":"${name}"`));
    const answer = last === undefined ? calls("a") : after[last];
    return createScriptedModel([answer], { deltaLength: 1000 }).streamFn(model, context, options);
  };
}
