/**
 * Features that users of seed 002 rely on and other agent tests do not cover: state, hooks and
 * events as in its README.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  agentLoop,
  type AgentEvent,
  type AgentMessage,
  type AgentTool,
} from "../../src/agent/index.ts";
import { Agent, getModel } from "../../src/index.ts";
import type { Message } from "../../src/llm/message.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { call, hello, rig, short, tool } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const says = (content: string): AgentMessage => ({ ...hello, content });
const numbers = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const results = (messages: readonly AgentMessage[]): AgentMessage[] =>
  messages.filter(({ role }) => role === "toolResult");

describe("the transcript of a request", () => {
  // Requirements: P3, P4
  it("passes transformContext and then convertToLlm before each call, and their output is not stored", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { agent, script } = rig([call("a"), "Done."], [tool("a", () => "1")], {
      transformContext: async (messages, signal) => (
        signals.push(signal),
        [says("outside"), ...messages.slice(-1)]
      ),
      convertToLlm: (messages) =>
        messages.map((message): Message => ({ ...message, timestamp: 7 })),
    });
    await agent.prompt("Hi");
    assert.deepEqual(
      script.calls.map(({ context }) => texts(context.messages)),
      [
        ["user: outside", "user: Hi"],
        ["user: outside", "toolResult: 1"],
      ],
    );
    assert.ok(
      script.calls.every(({ context }) =>
        context.messages.every(({ timestamp }) => timestamp === 7),
      ),
    );
    assert.deepEqual(texts(agent.state.messages), [
      "user: Hi",
      "assistant: toolCall",
      "toolResult: 1",
      "assistant: Done.",
    ]);
    assert.ok(signals.every((signal) => signal instanceof AbortSignal));
  });

  // Requirements: P4, P30
  it("is read after the queues and before getApiKey", async () => {
    const log: string[] = [];
    const script = createScriptedModel(["Hello."]);
    const agent = new Agent({
      initialState: { model: script.model },
      transformContext: (messages) => (log.push(`transform ${messages.length}`), messages),
      convertToLlm: (messages) => (log.push("convert"), messages),
      getApiKey: (provider) => void log.push(`key of ${provider}`),
      streamFn: (...args) => (log.push("model"), script.streamFn(...args)),
    });
    agent.subscribe(({ type }) => void (type === "message_start" && log.push(type)));
    agent.steer(says("s"));
    await agent.prompt("p");
    assert.deepEqual(log, [
      "message_start",
      "message_start",
      "transform 2",
      "convert",
      "key of scripted",
      "model",
      "message_start",
    ]);
  });
});

describe("events", () => {
  // Requirements: P5
  it("of a run with tools have exactly ten types", async () => {
    const working: AgentTool = {
      ...tool("a", () => ""),
      execute: (_id, _params, _signal, onUpdate) => (onUpdate?.({}), {}),
    };
    const { agent, events } = rig([call("a"), "Done."], [working]);
    await agent.prompt("Hi");
    assert.deepEqual(
      [...new Set(events.map(({ type }) => type))].toSorted(),
      [
        ["agent_end", "agent_start"],
        ["message_end", "message_start", "message_update"],
        ["tool_execution_end", "tool_execution_start", "tool_execution_update"],
        ["turn_end", "turn_start"],
      ].flat(),
    );
  });

  // Requirements: P7, P33
  it("of a tool contain the model's arguments, its partial results and its final result", async () => {
    const half = { content: [{ type: "text" as const, text: "half" }], details: { part: 1 } };
    const working: AgentTool = {
      ...tool("a", () => "", { parameters: numbers }),
      execute: (_id, _params, _signal, onUpdate) => (
        onUpdate?.(half),
        { content: [], details: { part: 2 } }
      ),
    };
    const { agent, events } = rig(
      [{ content: [scriptedToolCall("a", { n: "5" }, "1")] }, "Done."],
      [working],
    );
    await agent.prompt("Hi");
    const name = { toolCallId: "1", toolName: "a" };
    assert.partialDeepStrictEqual(
      events.filter(({ type }) => type.startsWith("tool_")),
      [
        { type: "tool_execution_start", ...name, args: { n: "5" } },
        { type: "tool_execution_update", ...name, args: { n: "5" }, partialResult: half },
        {
          type: "tool_execution_end",
          ...name,
          result: { content: [], details: { part: 2 } },
          isError: false,
        },
      ],
    );
  });

  // Requirements: P6, P7, P8, P10
  it("contain the result of each turn, and at the end the messages of the run", async () => {
    const { agent, events } = rig([call("a"), "Done.", "Again."], [tool("a", () => "1")]);
    agent.state.messages = [says("before"), says("and before")];
    await agent.continue();
    await agent.prompt("p");
    const turns = events.filter((event) => event.type === "turn_end");
    assert.deepEqual(
      turns.map(({ message, toolResults }) => [...texts([message]), ...texts(toolResults)]),
      [["assistant: toolCall", "toolResult: 1"], ["assistant: Done."], ["assistant: Again."]],
    );
    const ends = events.filter((event) => event.type === "agent_end");
    assert.deepEqual(
      ends.map(({ messages }) => texts(messages)),
      [
        ["assistant: toolCall", "toolResult: 1", "assistant: Done."],
        ["user: p", "assistant: Again."],
      ],
    );
  });

  // Requirements: P35, P36
  it("reach a low-level reader in order, and do not wait for it", async () => {
    const script = createScriptedModel([call("a"), "Done."]);
    let ran = false;
    const context = {
      systemPrompt: "",
      messages: [],
      tools: [tool("a", () => String((ran = true)))],
    };
    const config = { model: script.model, convertToLlm: (messages: AgentMessage[]) => messages };
    const stream = agentLoop([hello], context, config, undefined, script.streamFn);
    const seen: AgentEvent[] = [];
    for await (const event of stream) {
      if (event.type === "agent_start") await stream.result(); // the run is over before its first event was handled
      seen.push(event);
    }
    assert.equal(ran, true);
    assert.deepEqual(
      seen.map(({ seq }) => seq),
      seen.map((_, index) => index),
    );
    assert.equal(short(seen.at(-1)!), "agent_end:done");
  });
});

describe("hooks around a tool", () => {
  // Requirements: P14, P15
  it("run after a call's start and validation, and before its end and its result", async () => {
    const log: string[] = [];
    const { agent } = rig(
      [{ content: [scriptedToolCall("a", { n: "5" }, "1")] }, "Done."],
      [tool("a", () => "ran", { parameters: numbers })],
      {
        beforeToolCall: ({ toolCall, args, context }, signal) =>
          void log.push(
            `before ${toolCall.id} ${JSON.stringify(args)} ${context.messages.length} ${signal?.aborted}`,
          ),
        afterToolCall: ({ toolCall, args, result, isError }) =>
          void log.push(`after ${toolCall.id} ${JSON.stringify([args, result.content, isError])}`),
      },
    );
    agent.subscribe(
      (event) => void (/^tool_|^message_.*result/.test(short(event)) && log.push(short(event))),
    );
    await agent.prompt("Hi");
    assert.deepEqual(log, [
      "tool_execution_start:1",
      'before 1 {"n":5} 2 false',
      'after 1 [{"n":5},[{"type":"text","text":"ran"}],false]',
      "tool_execution_end:1",
      "message_start:result 1",
      "message_end:result 1",
    ]);
  });

  // Requirements: P14, P15
  it("are not called for invalid calls, and afterToolCall not for blocked ones", async () => {
    const log: string[] = [];
    const broken = { ...scriptedToolCall("a", {}, "broken"), argumentsText: '{"n":' } as const;
    const { agent } = rig(
      [
        {
          content: [
            scriptedToolCall("unknown", {}, "unknown"),
            scriptedToolCall("a", { n: "x" }, "invalid"),
            broken,
            scriptedToolCall("a", { n: 1 }, "blocked"),
          ],
        },
        "Done.",
      ],
      [tool("a", () => "ran", { parameters: numbers })],
      {
        beforeToolCall: ({ toolCall }) => (log.push(`before ${toolCall.id}`), { block: true }),
        afterToolCall: ({ toolCall }) => void log.push(`after ${toolCall.id}`),
      },
    );
    await agent.prompt("Hi");
    assert.deepEqual(log, ["before blocked"]);
    assert.equal(results(agent.state.messages).length, 4);
    assert.equal(
      texts(results(agent.state.messages)).at(-1),
      "toolResult: Tool execution was blocked",
    );
  });

  // Requirements: P12
  it("run for one call at a time, and all of them before the first tool of the batch", async () => {
    const log: string[] = [];
    const { agent } = rig(
      [{ content: ["1", "2", "3"].map((id) => scriptedToolCall("a", {}, id)) }, "Done."],
      [{ ...tool("a", () => ""), execute: (id) => (log.push(`run ${id}`), {}) }],
      {
        beforeToolCall: async ({ toolCall }) => {
          log.push(`ask ${toolCall.id}`);
          await new Promise((resolve) => setTimeout(resolve, 2));
          log.push(`answer ${toolCall.id}`);
        },
      },
    );
    await agent.prompt("Hi");
    assert.deepEqual(log, [
      "ask 1",
      "answer 1",
      "ask 2",
      "answer 2",
      "ask 3",
      "answer 3",
      "run 1",
      "run 2",
      "run 3",
    ]);
  });

  // Requirements: P15, P16
  it("may turn a success into an error and back, and end the batch", async () => {
    const { agent, script } = rig(
      [{ content: [scriptedToolCall("good", {}), scriptedToolCall("bad", {})] }],
      [tool("good", () => "fine"), tool("bad", () => Promise.reject(new Error("broken")))],
      {
        afterToolCall: ({ isError }) => ({
          isError: !isError,
          content: [{ type: "text", text: isError ? "mended" : "spoiled" }],
          terminate: true,
        }),
      },
    );
    await agent.prompt("Hi");
    assert.deepEqual(
      results(agent.state.messages).map(
        (message) => message.role === "toolResult" && message.isError,
      ),
      [true, false],
    );
    assert.deepEqual(texts(results(agent.state.messages)), [
      "toolResult: spoiled",
      "toolResult: mended",
    ]);
    assert.equal(script.calls.length, 1);
  });

  // Requirements: P16, P30
  it("that end a batch do not prevent queued messages", async () => {
    const { agent, script } = rig([call("a"), "One.", "Two."], [tool("a", () => "1")], {
      afterToolCall: () => ({ terminate: true }),
    });
    agent.followUp(says("f"));
    agent.subscribe(({ type }) => void (type === "tool_execution_end" && agent.steer(says("s"))));
    await agent.prompt("Hi");
    assert.deepEqual(
      script.calls.map(({ context }) => texts(context.messages).at(-1)),
      ["user: Hi", "user: s", "user: f"],
    );
  });

  // Requirements: P17
  it("of a turn see it complete after turn_end, if it ended normally, and can end the run before a queue is read", async () => {
    const log: string[] = [];
    const { agent, script } = rig(
      [call("a"), { content: [], stopReason: "error" }],
      [tool("a", () => "1")],
      {
        shouldStopAfterTurn: async ({ message, toolResults, context, newMessages }) => {
          log.push(
            [
              message.stopReason,
              toolResults.length,
              context.messages.length,
              newMessages.length,
            ].join(" "),
          );
          return true;
        },
      },
    );
    agent.subscribe(({ type }) => void (/^(?:turn|agent)_end/.test(type) && log.push(type)));
    agent.state.messages = [says("before")];
    agent.followUp(says("queued"));
    agent.subscribe(
      ({ type }) => void (type === "tool_execution_end" && agent.steer(says("queued"))),
    );
    const { reason, message } = await agent.prompt("Hi");
    assert.deepEqual([reason, message?.stopReason, script.calls.length], ["done", "toolUse", 1]);
    assert.equal(agent.hasQueuedMessages(), true);
    agent.clearAllQueues();
    await agent.prompt("Fail");
    assert.deepEqual(log, ["turn_end", "toolUse 1 4 3", "agent_end", "turn_end", "agent_end"]);
  });
});

describe("the state", () => {
  // Requirements: P19
  it("has defaults for everything, and a prompt without a model names what is missing", async () => {
    for (const agent of [new Agent(), new Agent({}), new Agent({ initialState: {} })]) {
      const { systemPrompt, thinkingLevel, tools, messages, isStreaming } = agent.state;
      assert.deepEqual(
        [systemPrompt, thinkingLevel, tools, messages, isStreaming],
        ["", "off", [], [], false],
      );
      const { reason, error } = await agent.prompt("Hi");
      assert.deepEqual([reason, error?.code], ["error", "invalid_argument"]);
      assert.match(error?.message ?? "", /No model is set/);
    }
  });

  // Requirements: P19
  it("accepts every thinking level, and `off` requests no thinking", async () => {
    const levels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
    const { agent, script } = rig(levels.map(() => "ok"));
    for (const level of levels) {
      agent.state.thinkingLevel = level;
      await agent.prompt("Hi");
    }
    assert.deepEqual(
      script.calls.map(({ options }) => options.reasoning),
      [undefined, ...levels.slice(1)],
    );
  });

  // Requirements: P21, P22
  it("copies assigned arrays, and uses later changes to its own, also during a run", async () => {
    const messages = [says("one")];
    const tools = [
      tool("a", () => {
        agent.state.messages.push(says("pushed"));
        return "1";
      }),
    ];
    const { agent, script } = rig([call("a"), "Done."]);
    agent.state.messages = messages;
    agent.state.tools = tools;
    agent.state.messages.push(says("two"));
    agent.state.tools.push(tool("b", () => "2"));
    await agent.continue();
    assert.deepEqual([messages.length, tools.length], [1, 1]);
    assert.deepEqual(
      script.calls[0]?.context.tools?.map(({ name }) => name),
      ["a", "b"],
    );
    assert.deepEqual(texts(script.calls[0]?.context.messages ?? []), ["user: one", "user: two"]);
    assert.ok(texts(script.calls[1]?.context.messages ?? []).includes("user: pushed"));
  });

  // Requirements: P21, P23
  it("contains pending calls and the streaming message, and neither afterwards", async () => {
    const gate = deferred<string>();
    const { agent } = rig(
      [{ content: ["1", "2"].map((id) => scriptedToolCall("a", {}, id)) }, "Done."],
      [tool("a", () => gate.promise)],
    );
    const seen: unknown[] = [];
    const pending: string[][] = [];
    agent.subscribe(({ type }) => {
      const { isStreaming, streamingMessage, pendingToolCalls } = agent.state;
      if (type === "message_update") seen.push([isStreaming, streamingMessage?.role]);
      if (type === "tool_execution_start" && pending.push([...pendingToolCalls]) === 2)
        gate.resolve("");
    });
    await agent.prompt("Hi");
    assert.deepEqual(seen[0], [true, "assistant"]);
    assert.deepEqual(pending, [["1"], ["1", "2"]]);
    const { isStreaming, streamingMessage, pendingToolCalls } = agent.state;
    assert.deepEqual([isStreaming, streamingMessage, pendingToolCalls.size], [false, undefined, 0]);
  });

  // Requirements: P21
  it("contains the last failure until the next run begins", async () => {
    const { agent } = rig([{ content: [], stopReason: "error" }, "Fine."]);
    await agent.prompt("Hi");
    assert.match(agent.state.errorMessage ?? "", /Scripted: error/);
    agent.subscribe(
      ({ type }) => type === "agent_start" && assert.equal(agent.state.errorMessage, undefined),
    );
    assert.equal((await agent.prompt("Again")).reason, "done");
    assert.equal(agent.state.errorMessage, undefined);
  });

  // Requirements: P24
  it("is assigned like the agent's settings, which take effect like options", async () => {
    const { agent, events, script } = rig(
      [{ content: [scriptedToolCall("a", {}), scriptedToolCall("b", {})] }, "Done."],
      [tool("a", () => "1"), tool("b", () => "2")],
    );
    agent.toolExecution = "sequential";
    agent.beforeToolCall = ({ toolCall }) =>
      toolCall.name === "a" ? { block: true, reason: "no" } : undefined;
    agent.afterToolCall = () => ({ content: [{ type: "text", text: "seen" }] });
    agent.sessionId = "s";
    agent.thinkingBudgets = { high: 9 };
    agent.steeringMode = "all";
    agent.followUpMode = "all";
    for (const content of ["1", "2"]) agent.steer(says(content));
    await agent.prompt("Hi");
    assert.deepEqual(texts(results(agent.state.messages)), ["toolResult: no", "toolResult: seen"]);
    assert.deepEqual(
      events.map(short).filter((event) => event.includes("result") || event.startsWith("tool_")),
      ["a", "b"].flatMap((id) => [
        `tool_execution_start:call_${id}`,
        `tool_execution_end:call_${id}${id === "a" ? " error" : ""}`,
        `message_start:result call_${id}`,
        `message_end:result call_${id}`,
      ]),
    );
    assert.deepEqual(texts(script.calls[0]?.context.messages ?? []), [
      "user: Hi",
      "user: 1",
      "user: 2",
    ]);
    const { sessionId, thinkingBudgets } = script.calls[0]?.options ?? {};
    assert.deepEqual(
      [sessionId, thinkingBudgets, agent.steeringMode, agent.followUpMode],
      ["s", { high: 9 }, "all", "all"],
    );
  });
});

describe("methods", () => {
  // Requirements: P29
  it("clear one queue or both", () => {
    const queued = (clear: (agent: Agent) => void): boolean => {
      const agent = new Agent();
      agent.steer(hello);
      agent.followUp(hello);
      clear(agent);
      return agent.hasQueuedMessages();
    };
    assert.equal(
      queued((agent) => (agent.clearSteeringQueue(), agent.clearFollowUpQueue())),
      false,
    );
    assert.equal(
      queued((agent) => agent.clearAllQueues()),
      false,
    );
    assert.equal(
      queued((agent) => agent.clearSteeringQueue()),
      true,
    );
    assert.equal(
      queued((agent) => agent.clearFollowUpQueue()),
      true,
    );
  });

  // Requirements: P27, P28
  it("subscribe with the run's signal until the listener leaves, and wait for the end of a run", async () => {
    const { agent } = rig(["One.", "Two."]);
    const signals = new Set<AbortSignal>();
    const leave = agent.subscribe((_event, signal) => void signals.add(signal));
    assert.equal(agent.signal, undefined);
    let over = false;
    void agent.prompt("Hi").then(() => (over = true));
    assert.equal(agent.state.isStreaming, true);
    await agent.waitForIdle();
    await Promise.resolve();
    assert.deepEqual(
      [over, agent.state.isStreaming, agent.signal, signals.size],
      [true, false, undefined, 1],
    );
    leave();
    await agent.prompt("Again");
    assert.equal(signals.size, 1);
  });

  // Requirements: P31, P32
  it("of a tool get the call's id, checked arguments, a signal and an update callback, and need no label", async () => {
    const seen: unknown[] = [];
    const plain: AgentTool = {
      name: "a",
      description: "",
      parameters: numbers,
      execute: (...[id, params, signal, onUpdate]) => {
        seen.push(id, params, signal?.aborted, typeof onUpdate);
        throw new Error("File not found");
      },
    };
    const { agent, script } = rig(
      [{ content: [scriptedToolCall("a", { n: 1 }, "1")] }, "I see."],
      [plain],
    );
    await agent.prompt("Hi");
    assert.deepEqual(seen, ["1", { n: 1 }, false, "function"]);
    const told = script.calls[1]?.context.messages.at(-1);
    assert.deepEqual(told?.role === "toolResult" && [told.isError, told.content], [
      true,
      [{ type: "text", text: "File not found" }],
    ]);
  });
});

describe("the package", () => {
  // Requirements: P1, P37, P44
  it("includes its model layer, under MIT", async () => {
    const root = join(import.meta.dirname, "../..");
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    assert.equal(manifest.license, "MIT");
    assert.match(await readFile(join(root, "LICENSE"), "utf8"), /^MIT License/);
    assert.deepEqual(
      ["anthropic", "openai"].map((provider) => getModel(provider, "m").api),
      ["anthropic-messages", "openai-chat"],
    );
  });
});
