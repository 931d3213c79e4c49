/** Agents of runs that a worker executes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, BowlineError, systemClock } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import {
  createAgentOfRun,
  resolveAgents,
  type AgentHost,
  type AgentOfRun,
  type AgentOptions,
} from "bowline/engine";
import { defaultLimits, loadRules } from "bowline/gateway";

const { model, streamFn } = createScriptedModel([]);
const run: AgentOfRun = {
  sessionKey: "ann/s",
  runId: "r",
  agentId: undefined,
  model: undefined,
  user: { id: "ann" },
};

async function hostOf(options: AgentOptions): Promise<AgentHost> {
  return {
    ...resolveAgents(options),
    rules: await loadRules(),
    isRuled: false,
    limits: { ...defaultLimits, maxTurns: 7 },
    clock: systemClock,
    createId: () => "id",
  };
}

describe("the agent of a run in a worker", () => {
  it("is made for its user, with the limits of the gateway", async () => {
    const host = await hostOf({
      agents: (key, user) => new Agent({ model, streamFn, systemPrompt: `${key} ${user.id}` }),
    });
    const agent = await createAgentOfRun(host, run);
    assert.equal(agent.state.systemPrompt, "ann/s ann");
    assert.deepEqual(agent.budget, { maxTurns: 7, maxTimeMs: defaultLimits.runTimeoutMs });
    assert.notEqual(agent.beforeToolCall, undefined);
    assert.notEqual(agent.transformContext, undefined);
  });

  it("has the chosen model, if agents are a list", async () => {
    const asked: string[] = [];
    const host = await hostOf({
      agents: () => [{ id: "assistant", model: "a/b", description: "" }],
      backendFor(agent) {
        asked.push(`${agent.id} ${agent.model}`);
        return { model, streamFn, isPractice: false };
      },
      systemPrompt: (key) => `prompt of ${key}`,
    });
    assert.equal((await createAgentOfRun(host, run)).state.systemPrompt, "prompt of ann/s");
    await createAgentOfRun(host, { ...run, model: "c/d" });
    assert.deepEqual(asked, ["assistant a/b", "assistant c/d"]);
  });

  it("ends the run if it cannot be made, whatever the error says of retries", async () => {
    const failures: readonly [() => Agent, string | undefined, string, RegExp][] = [
      [() => assert.fail("no luck"), undefined, "hook_failed", /could not be made: no luck/],
      [
        () => {
          throw new BowlineError("rate_limited", "later", { retryable: true });
        },
        undefined,
        "rate_limited",
        /later/,
      ],
      [() => ({}) as Agent, undefined, "invalid_state", /returned no Agent/],
      [() => new Agent({ model, streamFn }), "nobody", "not_found", /no agent "nobody"/],
    ];
    for (const [agents, agentId, code, message] of failures) {
      const host = await hostOf({ agents });
      await assert.rejects(createAgentOfRun(host, { ...run, agentId }), (error: BowlineError) => {
        assert.deepEqual([error.code, error.retryable], [code, false]);
        assert.match(error.message, message);
        return true;
      });
    }
  });
});
