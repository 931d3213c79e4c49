/**
 * Foreign code cannot hang a run: hooks, listeners and queues that never settle, and invalid use.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agentLoop, type AgentMessage, type AgentOptions } from "../../src/agent/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const never = (): Promise<never> => new Promise(() => {});
/** Long, because a machine may be busy. */
const within = <T>(run: Promise<T>): Promise<T> =>
  Promise.race([
    run,
    new Promise<never>(
      (_, reject) => void setTimeout(() => reject(new Error("hangs")), 30_000).unref(),
    ),
  ]);

describe("an abort", () => {
  const waits: Record<string, AgentOptions> = {
    transformContext: { transformContext: never },
    beforeToolCall: { beforeToolCall: never },
    afterToolCall: { afterToolCall: never },
    shouldStopAfterTurn: { shouldStopAfterTurn: never },
  };
  for (const [what, options] of Object.entries(waits)) {
    it(`settles after the grace period when ${what} never settles`, async () => {
      const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], {
        ...options,
        abortGraceMs: 20,
      });
      const run = agent.prompt("Hi");
      setTimeout(() => agent.abort(), 10);
      assert.equal((await within(run)).reason, "aborted");
    });
  }

  it("settles after the grace period when a listener never settles", async () => {
    const { agent } = rig(["Done."], [], { abortGraceMs: 20 });
    agent.subscribe(({ type }) => (type === "turn_start" ? never() : undefined));
    const run = agent.prompt("Hi");
    setTimeout(() => agent.abort(), 10);
    assert.equal((await within(run)).reason, "aborted");
  });

  it("settles after the grace period when a queue of the low-level loop never settles", async () => {
    const { model, streamFn } = createScriptedModel(["Done."]);
    const convertToLlm = (messages: AgentMessage[]): AgentMessage[] => messages;
    const abort = new AbortController();
    const config = { model, convertToLlm, getFollowUpMessages: never, abortGraceMs: 20 };
    const stream = agentLoop(
      [hello],
      { systemPrompt: "", messages: [] },
      config,
      abort.signal,
      streamFn,
    );
    setTimeout(() => abort.abort(), 10);
    await within(stream.result());
  });

  it("between a turn and the queue leaves the queue unchanged", async () => {
    const { agent, script } = rig([call("a"), "never"], [tool("a", () => "1")], {
      shouldStopAfterTurn: () => (agent.abort(), false),
    });
    agent.subscribe(({ type }) => void (type === "tool_execution_end" && agent.steer(hello)));
    assert.equal((await agent.prompt("Hi")).reason, "aborted");
    assert.equal(agent.hasQueuedMessages(), true);
    assert.deepEqual(texts(agent.state.messages), [
      "user: Hi",
      "assistant: toolCall",
      "toolResult: 1",
    ]);
    assert.equal(script.calls.length, 1);
  });
});

describe("a hook that never settles", () => {
  const waits: Record<string, AgentOptions> = {
    convertToLlm: { convertToLlm: never },
    getApiKey: { getApiKey: never },
    shouldStopAfterTurn: { shouldStopAfterTurn: never },
  };
  for (const [what, options] of Object.entries(waits)) {
    it(`(${what}) is given up at hookTimeoutMs`, async () => {
      const clock = new ManualClock();
      const { agent } = rig(["Done."], [], { ...options, clock, hookTimeoutMs: 100 });
      const run = agent.prompt("Hi");
      await clock.advance(100);
      assert.equal((await within(run)).error?.code, "hook_failed");
    });
  }
});

describe("invalid use", () => {
  it("with maxParallelTools of 0 is refused, and no call is left open", async () => {
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], { maxParallelTools: 0 });
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.error?.code, run.turns], ["error", "invalid_argument", 0]);
  });

  it("with an empty prompt is refused, and no model is asked", async () => {
    const { agent, script } = rig(["Done."]);
    await assert.rejects(agent.prompt([]), code("invalid_argument"));
    assert.equal(script.calls.length, 0);
  });
});

describe("`continue` after a run that failed", () => {
  // Requirements: P26
  it("asks the model again, because a failed answer does not count", async () => {
    const { agent, script } = rig([{ content: [], stopReason: "error" }, "Now."]);
    assert.equal((await agent.prompt("Hi")).reason, "error");
    assert.equal((await agent.continue()).reason, "done");
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []).at(0), "user: Hi");
  });
});
