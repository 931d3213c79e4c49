import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createAgentTool,
  requireApproval,
  type AgentTool,
  type AgentToolUpdateCallback,
} from "../../src/agent/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { call, rig, tool } from "../support.ts";

describe("events that are emitted while a listener is busy", () => {
  it("are delivered one at a time, in order", async () => {
    const clock = new ManualClock();
    const done = deferred();
    let report: AgentToolUpdateCallback = () => {};
    const work: AgentTool = {
      ...tool("a", () => "1"),
      execute: async (_id, _args, _signal, onUpdate) => {
        if (onUpdate) report = onUpdate;
        await done.promise;
        return { content: [{ type: "text", text: "1" }] };
      },
    };
    const { agent } = rig([call("a"), "Done."], [work], { clock });
    let busy = 0;
    const heard: string[] = [];
    agent.subscribe(async (event) => {
      if (event.type !== "tool_execution_update") return;
      const part = event.partialResult.content?.[0];
      assert.equal(++busy, 1, "two deliveries overlap");
      await new Promise<void>((resolve) => clock.setTimer(10, resolve));
      busy--;
      heard.push(part?.type === "text" ? part.text : "");
    });
    const say = (text: string): void => report({ content: [{ type: "text", text }] });
    const run = agent.prompt("Hi");
    await settle();
    say("first");
    say("second");
    await clock.advance(15); // the second is being delivered
    say("third");
    await clock.advance(100);
    done.resolve();
    await clock.advance(100);
    assert.equal((await run).reason, "done");
    assert.deepEqual(heard, ["first", "second", "third"]);
  });
});

describe("an approval request of a nested agent", () => {
  it("that its own agent answered is closed for the caller", async () => {
    const asked = createScriptedModel([call("write"), "Written."]);
    const agents: Agent[] = [];
    const createAgent = (): Agent => {
      const made = new Agent({
        initialState: { model: asked.model, tools: [tool("write", () => "ok")] },
        streamFn: asked.streamFn,
        beforeToolCall: requireApproval(),
      });
      agents.push(made);
      return made;
    };
    const research = createAgentTool({ name: "research", description: "Looks.", createAgent });
    const asks = { content: [scriptedToolCall("research", { prompt: "Look" })] };
    const { agent } = rig([asks, "Done."], [research]);
    let lateAnswer: boolean | undefined;
    agent.subscribe((event) => {
      if (event.type === "approval_request")
        setImmediate(() => agents[0]?.answer(event.approvalId, { decision: "allow" }));
      if (event.type !== "approval_answer") return;
      lateAnswer = agent.answer(event.approvalId, { decision: "deny" });
    });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal(lateAnswer, false);
  });
});
