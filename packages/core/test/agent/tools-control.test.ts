/**
 * How a caller controls the calls of a turn: change their arguments, limit them, steer before them.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { agentLoop, defineTool, type AgentLoopConfig } from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts";
import { toolCallsOf, type AssistantMessage } from "../../src/llm/message.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedAnswer,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { hello, rig, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const calls = (...names: string[]): ScriptedStep => ({
  content: names.map((name) => scriptedToolCall(name, {}, name)),
});
const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  execute: ({ n }) => `got ${n}`,
});
const addCall = (n: unknown): ScriptedStep => ({ content: [scriptedToolCall("add", { n }, "a")] });

describe("beforeToolCall", () => {
  it("may replace the arguments, which are checked and repaired like the model's", async () => {
    const { agent } = rig([addCall(1), "Done."], [add], {
      beforeToolCall: () => ({ args: { n: "7" } }),
    });
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: got 7");
  });

  it("cannot bypass the schema, either by replacing arguments or by mutating them", async () => {
    for (const beforeToolCall of [
      () => ({ args: { n: "seven" } }),
      ({ args }: { args: unknown }) => void Object.assign(args as object, { n: "seven" }),
    ]) {
      const { agent } = rig([addCall(1), "Done."], [add], { beforeToolCall });
      const run = await agent.prompt("Hi");
      assert.match(texts(run.messages)[2] ?? "", /Invalid arguments for tool "add":\n {2}- n: /);
      assert.equal(run.tools[0]?.outcome, "not_started");
    }
  });

  it("sees the arguments as the schema transformed them, and does not alter values that are not JSON", async () => {
    const big = defineTool({
      name: "add",
      description: "Adds.",
      parameters: z.object({ n: z.number().transform((n) => BigInt(n)) }),
      // A schema with an output that JSON cannot represent has no JSON Schema of its own.
      jsonSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      execute: ({ n }) => `${typeof n} ${n}`,
    });
    const seen: unknown[] = [];
    const { agent } = rig([addCall(3), "Done."], [big], {
      beforeToolCall: ({ args }) => void seen.push(args),
    });
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: bigint 3");
    assert.deepEqual(seen, [{ n: 3n }]);
  });

  it("changes only the executed call: the transcript and the events keep the model's arguments, even if the tool mutates them", async () => {
    const rewrite = {
      ...add,
      prepareArguments: (raw: unknown) => Object.assign(raw as object, { n: 2 }),
    };
    rewrite.execute = (id, args, ...rest) => {
      const result = add.execute(id, args, ...rest);
      Object.assign(args, { n: 99 });
      return result;
    };
    const { agent, events } = rig([addCall(1), "Done."], [rewrite], {
      beforeToolCall: ({ args }) => void Object.assign(args as object, { n: 3 }),
    });
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: got 3");
    const start = events.find(({ type }) => type === "tool_execution_start");
    assert.deepEqual(start?.type === "tool_execution_start" && start.args, { n: 1 });
    assert.deepEqual(toolCallsOf(messages[1] as AssistantMessage)[0]?.arguments, { n: 1 });
  });
});

describe("maxParallelTools", () => {
  it("limits how many run at a time, and keeps the order of results", async () => {
    let running = 0;
    let most = 0;
    const names = ["a", "b", "c", "d", "e"];
    const tools = names.map((name, index) =>
      tool(name, async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, (5 - index) * 2));
        running--;
        return name.toUpperCase();
      }),
    );
    const { agent } = rig([calls(...names), "Done."], tools, { maxParallelTools: 2 });
    const { messages } = await agent.prompt("Hi");
    assert.equal(most, 2);
    assert.deepEqual(
      texts(messages).filter((text) => text.startsWith("toolResult")),
      names.map((name) => `toolResult: ${name.toUpperCase()}`),
    );
  });
});

describe("skipToolsOnSteering", () => {
  const started: string[] = [];
  const noted = (name: string): ReturnType<typeof tool> =>
    tool(name, () => {
      started.push(name);
      return name;
    });
  /** A tool that waits, and a promise of its start. */
  const held = (
    result: Promise<string>,
  ): { tool: ReturnType<typeof tool>; begun: Promise<void> } => {
    const begun = deferred();
    const waits = tool("a", () => {
      begun.resolve();
      return result;
    });
    return { tool: waits, begun: begun.promise };
  };

  it("skips the calls that were not started, and delivers the message before the next model call", async () => {
    started.length = 0;
    const gate = deferred<string>();
    const first = held(gate.promise);
    const { agent, script } = rig(
      [calls("a", "b", "c"), "Done."],
      [first.tool, noted("b"), noted("c")],
      { toolExecution: "sequential", skipToolsOnSteering: true },
    );
    const run = agent.prompt("Hi");
    await first.begun;
    agent.steer({ ...hello, content: "Wait" });
    gate.resolve("1");
    const { messages, tools } = await run;
    assert.deepEqual(started, []);
    assert.deepEqual(texts(messages).slice(2), [
      "toolResult: 1",
      "toolResult: Not run: a new message from the user came first.",
      "toolResult: Not run: a new message from the user came first.",
      "user: Wait",
      "assistant: Done.",
    ]);
    assert.deepEqual(
      tools.map(({ outcome }) => outcome),
      ["finished", "not_started", "not_started"],
    );
    assert.equal(script.calls.length, 2);
  });

  it("is off by default: the message waits for the turn's calls", async () => {
    started.length = 0;
    const gate = deferred<string>();
    const first = held(gate.promise);
    const { agent } = rig([calls("a", "b"), "Done."], [first.tool, noted("b")], {
      toolExecution: "sequential",
    });
    const run = agent.prompt("Hi");
    await first.begun;
    agent.steer({ ...hello, content: "Wait" });
    gate.resolve("1");
    await run;
    assert.deepEqual(started, ["b"]);
  });

  it("loses no message when the run is aborted before the message was taken", async () => {
    const gate = deferred<string>();
    const first = held(gate.promise);
    const { agent } = rig([calls("a", "b"), "Done."], [first.tool, noted("b")], {
      toolExecution: "sequential",
      skipToolsOnSteering: true,
    });
    const run = agent.prompt("Hi");
    await first.begun;
    agent.steer({ ...hello, content: "Wait" });
    agent.abort();
    gate.resolve("1");
    assert.equal((await run).reason, "aborted");
    assert.ok(agent.hasQueuedMessages());
  });

  it("uses up no attempt at an output", async () => {
    const answer = (n: unknown) => ({ content: [scriptedToolCall("final_answer", { n })] });
    const interrupted = (): ScriptedAnswer => {
      agent.steer({ ...hello, content: "Wait" });
      return answer(1);
    };
    const { model, streamFn } = createScriptedModel([
      interrupted,
      interrupted,
      answer("x"),
      interrupted,
      answer("y"),
      answer(5),
    ]);
    const initialState = { model };
    const agent = new Agent({ initialState, streamFn, skipToolsOnSteering: true });
    const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const run = await agent.prompt("Hi", { output });
    assert.deepEqual([run.reason, run.output], ["done", { n: 5 }]);
  });

  it("works in a low-level loop with a queue that implements hasSteeringMessages", async () => {
    started.length = 0;
    const queue = [{ ...hello, content: "Wait" }];
    const script = createScriptedModel([calls("b"), "Done."]);
    const config: AgentLoopConfig = {
      model: script.model,
      convertToLlm: (messages) => messages.filter((message) => "timestamp" in message),
      skipToolsOnSteering: true,
      hasSteeringMessages: () => script.calls.length > 0 && queue.length > 0,
      getSteeringMessages: () => (script.calls.length > 0 ? queue.splice(0) : []),
    };
    const context = { systemPrompt: "", messages: [], tools: [noted("b")] };
    const messages = await agentLoop([hello], context, config, undefined, script.streamFn).result();
    assert.deepEqual(started, []);
    assert.equal(texts(messages).at(-2), "user: Wait");
  });
});
