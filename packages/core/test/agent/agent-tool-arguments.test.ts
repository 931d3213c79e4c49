import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { createAgentTool, type ToolRun } from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts"; // of the main entry, which supports runs for an output
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { rig } from "../support.ts";

const about = { name: "research", description: "Helps." };
const topic = z.object({ topic: z.string(), depth: z.number().default(1) });
const call = (args: Record<string, unknown>, id = "a"): ScriptedStep => ({
  content: [scriptedToolCall("research", args, id)],
});
const agentOf = ({ model, streamFn }: ScriptedModel): Agent =>
  new Agent({ initialState: { model }, streamFn });

describe("the arguments and the result of an agent tool", () => {
  it("follow the tool's own schema, from which it builds the prompt", async () => {
    const script = createScriptedModel(["Found."]);
    const research = createAgentTool({
      ...about,
      parameters: topic,
      prompt: async (args) => `Look for ${args.topic}, ${args.depth.toFixed()} deep.`,
      createAgent: () => agentOf(script),
    });
    const { agent, script: caller } = rig(
      [call({ topic: "rope" }), call({ topic: 1, depth: "x" }), "Done."],
      [research],
    );
    const { messages, tools } = await agent.prompt("Hi");
    const [prompted] = script.calls;
    assert.equal(prompted?.context.messages[0]?.content, "Look for rope, 1 deep.");
    assert.deepEqual(
      tools.map(({ outcome }) => outcome),
      ["finished", "not_started"],
    );
    assert.match(texts(messages)[4] ?? "", /Invalid arguments for tool "research"/);
    const [declared] = caller.calls[0]?.context.tools ?? [];
    assert.equal(declared?.parameters, topic);
  });

  it("let prompt() build a message from the default argument", async () => {
    const script = createScriptedModel(["Found."]);
    const research = createAgentTool({
      ...about,
      prompt: ({ prompt }) => ({ role: "user", content: `Briefly: ${prompt}`, timestamp: 7 }),
      createAgent: () => agentOf(script),
    });
    const { agent } = rig([call({ prompt: "rope" }), "Done."], [research]);
    await agent.prompt("Hi");
    const { content, timestamp } = script.calls[0]?.context.messages[0] ?? {};
    assert.deepEqual([content, timestamp], ["Briefly: rope", 7]);
  });

  it("fail the call when the prompt cannot be built, and create no agent", async () => {
    let made = 0;
    const research = createAgentTool({
      ...about,
      parameters: topic,
      prompt() {
        throw new Error("No such topic.");
      },
      createAgent: () => agentOf((made++, createScriptedModel([]))),
    });
    const { agent } = rig([call({ topic: "rope" }), "Done."], [research]);
    const { messages } = await agent.prompt("Hi");
    assert.deepEqual([texts(messages)[2], made], ["toolResult: No such topic.", 0]);
  });

  it("refuses parameters without a prompt function, and invalid schemas", () => {
    const createAgent = (): Agent => agentOf(createScriptedModel([]));
    const refused = [
      { parameters: topic },
      { output: z.string() },
      { parameters: 1, prompt: String },
    ];
    for (const options of refused)
      assert.throws(() => createAgentTool({ ...about, createAgent, ...(options as object) }), {
        code: "invalid_argument",
      });
  });

  it("are passed to createAgent with the call's id, signal and run", async () => {
    const heard: [unknown, ToolRun][] = [];
    const script = createScriptedModel(["Found."]);
    const research = createAgentTool({
      ...about,
      parameters: topic,
      prompt: (args) => args.topic,
      createAgent(args, run) {
        heard.push([args, run]);
        return agentOf(script);
      },
    });
    const context = { user: "Ann" };
    const { agent } = rig([call({ topic: "rope" }, "7"), "Done."], [research], { context });
    const { runId } = await agent.prompt("Hi");
    const [[args, run] = []] = heard;
    assert.deepEqual(args, { topic: "rope", depth: 1 });
    assert.deepEqual([run?.toolCallId, run?.run?.runId, run?.context], ["7", runId, context]);
    assert.equal(run?.signal.aborted, false);
  });

  it("waits for an async createAgent, and asks no model when the run was aborted meanwhile", async () => {
    const gate = deferred();
    const script = createScriptedModel(["Found."]);
    const signals: AbortSignal[] = [];
    const research = createAgentTool({
      ...about,
      async createAgent(_args, { signal }) {
        signals.push(signal);
        await gate.promise;
        return agentOf(script);
      },
    });
    const { agent } = rig([call({ prompt: "Look" })], [research]);
    const run = agent.prompt("Hi");
    await settle();
    agent.abort();
    gate.resolve();
    const { reason } = await run;
    assert.deepEqual([reason, signals[0]?.aborted, script.calls.length], ["aborted", true, 0]);
  });

  it("returns the run's output as JSON", async () => {
    const output = z.object({ details: z.string() });
    const value = { details: "30 m" };
    const script = createScriptedModel([
      { content: [scriptedToolCall("final_answer", value)] },
      "Never asked.",
    ]);
    const research = createAgentTool({ ...about, output, createAgent: () => agentOf(script) });
    const { agent } = rig([call({ prompt: "Rope" }), "Done."], [research]);
    const { messages } = await agent.prompt("Hi");
    const [, , result] = messages;
    assert.ok(result?.role === "toolResult");
    assert.deepEqual(result.content, [{ type: "text", text: JSON.stringify(value) }]);
    assert.equal((result.details as { reason: string }).reason, "done");
  });

  it("fails the call when the run ended without its required output", async () => {
    const output = z.object({ euros: z.number() });
    const script = createScriptedModel(["54", "54", "54", "54"]);
    const research = createAgentTool({ ...about, output, createAgent: () => agentOf(script) });
    const { agent } = rig([call({ prompt: "Rope" }), "Done."], [research]);
    const { messages } = await agent.prompt("Hi");
    const [, , result] = messages;
    assert.ok(result?.role === "toolResult" && result.isError);
    assert.match(texts(messages)[2] ?? "", /^toolResult: .*euros|final_answer/);
  });
});
