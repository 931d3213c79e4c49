/** Approvals that the agent of an agent tool asks for, which its caller's agent answers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { within } from "../../../../test/support/within.ts";
import {
  Agent,
  createAgentTool,
  requireApproval,
  type AgentOptions,
  type RunResult,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { call, rig, tool, type Rig } from "../support.ts";

interface Asking extends Rig {
  readonly running: Promise<RunResult>;
  /** The agent of the agent tool. */
  readonly inner: Agent;
  readonly clock: ManualClock;
  readonly approvalId: string;
}

/** A run whose agent tool has asked for an approval, with a limit of 100 ms. */
async function asking(options: AgentOptions = {}): Promise<Asking> {
  const clock = new ManualClock();
  const { model, streamFn } = createScriptedModel([call("write"), "Tried."]);
  const inner = new Agent({
    model,
    streamFn,
    clock,
    tools: [tool("write", () => "ok")],
    beforeToolCall: requireApproval({ timeoutMs: 100 }),
  });
  const research = createAgentTool({
    name: "research",
    description: "Helps.",
    createAgent: () => inner,
  });
  const asks = { content: [scriptedToolCall("research", { prompt: "Write" }, "a")] };
  const outer = rig([asks, "Done."], [research], { clock, ...options });
  const running = outer.agent.prompt("Hi");
  await settle();
  const request = outer.events.find(({ type }) => type === "approval_request");
  assert.ok(request?.type === "approval_request");
  return { ...outer, running, inner, clock, approvalId: request.approvalId };
}

/** The result that the nested run's model got for its call. */
const told = (inner: Agent): string | undefined => texts(inner.state.messages)[2];

describe("an approval of a nested run", () => {
  it("is no longer open in the caller's agent when it was answered in the nested one", async () => {
    const { agent, inner, approvalId, running } = await asking();
    const answers: boolean[] = [];
    inner.subscribe((event) => {
      if (event.type === "tool_execution_end")
        answers.push(agent.answer(approvalId, { decision: "deny" }));
    });
    assert.equal(inner.answer(approvalId, { decision: "allow" }), true);
    await within("the end of the run", running);
    assert.deepEqual([answers, told(inner)], [[false], "toolResult: ok"]);
  });

  it("is no longer open in the caller's agent when its time is over", async () => {
    const { agent, inner, approvalId, running, clock } = await asking();
    const answers: boolean[] = [];
    inner.subscribe((event) => {
      if (event.type === "tool_execution_end")
        answers.push(agent.answer(approvalId, { decision: "allow" }));
    });
    await clock.advance(100);
    await within("the end of the run", running);
    assert.deepEqual(answers, [false]);
    assert.equal(told(inner), "toolResult: Denied: there was no answer in time.");
  });

  it("is the only thing that the caller's run waits for", async () => {
    const names: string[] = [];
    const { approvalId, inner, running } = await asking({
      effects: {
        waitFor: (name) => {
          names.push(name);
          return Promise.resolve({ decision: "allow" }) as Promise<never>;
        },
      },
    });
    await within("the end of the run", running);
    assert.deepEqual([names, told(inner)], [[approvalId], "toolResult: ok"]);
  });

  it("is denied with the reason when the caller's run cannot wait", async () => {
    const { inner, running } = await asking({
      effects: { waitFor: () => Promise.reject(new BowlineError("invalid_state", "No waiting")) },
    });
    await settle();
    assert.equal(told(inner), "toolResult: Denied: No waiting.");
    await within("the end of the run", running);
  });

  it("stays open in the nested agent when the caller's wait fails in another way", async () => {
    const { inner, approvalId, running } = await asking({
      effects: { waitFor: () => Promise.reject(new BowlineError("aborted", "Not waiting.")) },
    });
    await settle();
    assert.equal(inner.answer(approvalId, { decision: "allow" }), true);
    await within("the end of the run", running);
    assert.equal(told(inner), "toolResult: ok");
  });
});
