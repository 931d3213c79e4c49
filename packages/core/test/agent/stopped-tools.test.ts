/** Calls of tools that end, or do not, after they were signalled to stop. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentOptions, AgentTool } from "../../src/agent/index.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { within } from "../../../../test/support/within.ts";
import { call, rig, tool, type Rig } from "../support.ts";

const GRACE_MS = 200;
const LIMIT_MS = 100;

/** A run that calls the tool `a`. */
function setUp(
  execute: AgentTool["execute"],
  options: AgentOptions = {},
): Rig & { readonly clock: ManualClock } {
  const clock = new ManualClock();
  const called: AgentTool = { ...tool("a", () => ""), execute };
  return {
    clock,
    ...rig([call("a"), "Done."], [called], { clock, abortGraceMs: GRACE_MS, ...options }),
  };
}

/** Returns the outcome of the call, and its result as text. */
async function endOf(running: ReturnType<Rig["agent"]["prompt"]>): Promise<unknown[]> {
  const { tools, messages } = await within("the run ends", running);
  return [tools[0]?.outcome, texts(messages)[2]];
}

describe("a tool that reports an error", () => {
  const failing: AgentTool["execute"] = (_id, _args, signal) =>
    new Promise((resolve) => {
      const result = { content: [{ type: "text" as const, text: "Sunk." }], isError: true };
      if (signal) signal.addEventListener("abort", () => resolve(result));
    });

  it("has failed when it was not signalled to stop", async () => {
    const { agent } = setUp(() => ({ content: [], isError: true }));
    assert.equal((await endOf(agent.prompt("Hi")))[0], "failed");
  });

  it("was stopped when it does so after an abort or its time limit", async () => {
    const aborted = setUp(failing);
    const running = aborted.agent.prompt("Hi");
    await aborted.clock.advance(10);
    aborted.agent.abort();
    assert.deepEqual(await endOf(running), ["stopped", "toolResult: Sunk."]);
    const late = setUp(failing, { toolTimeoutMs: LIMIT_MS });
    const running2 = late.agent.prompt("Hi");
    await late.clock.advance(LIMIT_MS);
    assert.deepEqual(await endOf(running2), ["stopped", "toolResult: Sunk."]);
    assert.equal(late.clock.pending, 0);
  });
});

describe("a tool that ignores its time limit", () => {
  it("is left running after one grace period, for the limit, also when the run is aborted meanwhile", async () => {
    const { agent, clock } = setUp(() => new Promise(() => {}), { toolTimeoutMs: LIMIT_MS });
    const reasons: unknown[] = [];
    agent.subscribe((event) => {
      if (event.type === "tool_execution_end") reasons.push(clock.now());
    });
    const from = clock.now();
    const running = agent.prompt("Hi");
    await clock.advance(LIMIT_MS + GRACE_MS / 2);
    agent.abort();
    await clock.advance(GRACE_MS / 2);
    const [outcome, text] = await endOf(running);
    assert.equal(outcome, "left_running");
    assert.match(String(text), /The tool took longer than 100 ms\./);
    assert.deepEqual(reasons, [from + LIMIT_MS + GRACE_MS]);
    assert.equal(clock.pending, 0);
  });
});
