import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agentLoop,
  agentLoopContinue,
  type AgentEvent,
  type AgentMessage,
  type AgentTool,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

describe("Agent", () => {
  // Requirements: P25, X13
  it("resolves a prompt with the result of the run", async () => {
    const { agent } = rig(
      [call("a"), { content: [{ type: "text", text: "Done." }], usage: { input: 3, output: 2 } }],
      [tool("a", () => "1")],
    );
    const run = await agent.prompt("Hi");
    assert.equal(run.reason, "done");
    assert.equal(run.turns, 2);
    assert.deepEqual(run.tools, [{ toolCallId: "a", toolName: "a", outcome: "finished" }]);
    assert.deepEqual(run.usage, { input: 3, output: 2, totalTokens: 5 });
    assert.deepEqual(texts(run.messages), [
      "user: Hi",
      "assistant: toolCall",
      "toolResult: 1",
      "assistant: Done.",
    ]);
  });

  it("returns the text of the final answer beside its message", async () => {
    const both = {
      content: [{ type: "text" as const, text: "Now." }, scriptedToolCall("stop", {})],
    };
    const { agent } = rig(
      [
        "Done.",
        {
          content: [
            { type: "thinking", thinking: "Hm." },
            { type: "text", text: "On." },
          ],
        },
        { content: [scriptedToolCall("stop", {})] },
        both,
        { error: new BowlineError("overloaded", "Overloaded") },
      ],
      [tool("stop", () => "", { execute: () => ({ content: [], terminate: true }) })],
      { maxRetries: 0 },
    );
    assert.equal((await agent.prompt("Hi")).text, "Done.");
    agent.followUp(hello);
    assert.equal((await agent.continue()).text, "On.");
    const silent = await agent.prompt("Stop");
    assert.deepEqual([silent.message?.content.length, silent.text], [1, ""]);
    assert.equal((await agent.prompt("Stop")).text, "Now.");
    const failed = await agent.prompt("Fail");
    assert.deepEqual([failed.reason, failed.message?.content, failed.text], ["error", [], ""]);
  });

  it("returns no text for a run that ended before any answer", async () => {
    const { agent } = rig(["Done."], [], { budget: { maxTurns: 0 } });
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.message, run.text], ["budget", undefined, ""]);
  });

  // Requirements: P25
  it("sends images with the text, and accepts one message or several", async () => {
    const { agent, script } = rig(["ok", "ok"]);
    await agent.prompt("See", [{ type: "image", data: "aGk=", mimeType: "image/png" }]);
    await agent.prompt([hello]);
    assert.deepEqual(script.calls[0]?.context.messages[0]?.content, [
      { type: "text", text: "See" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]);
    assert.deepEqual(script.calls[1]?.context.messages.at(-1), hello);
  });

  // Requirements: P27, P38, X24
  it("refuses a second prompt, continue and reset during a run, and names the alternatives", async () => {
    const gate = deferred<string>();
    const { agent } = rig([call("a"), "Done."], [tool("a", () => gate.promise)]);
    const run = agent.prompt("Hi");
    await assert.rejects(agent.prompt("Again"), /steer\(\) or followUp\(\)/);
    await assert.rejects(agent.continue(), code("invalid_state"));
    assert.throws(() => agent.reset(), code("invalid_state"));
    gate.resolve("1");
    await run;
    agent.reset();
    assert.deepEqual(agent.state.messages, []);
  });

  // Requirements: P26
  it("continues only from a user message or a tool result", async () => {
    const { agent } = rig(["Hi."]);
    await assert.rejects(agent.continue(), /no messages/);
    agent.state.messages = [hello];
    await agent.continue();
    await assert.rejects(agent.continue(), /complete answer/);
  });

  // Requirements: P26, P38
  it("continues from an assistant message when something is queued, one at a time", async () => {
    const { agent, script } = rig(["one", "two", "three"]);
    await agent.prompt("Hi");
    agent.steer({ ...hello, content: "s1" });
    agent.steer({ ...hello, content: "s2" });
    await agent.continue();
    assert.deepEqual(
      script.calls.slice(1).map(({ context }) => texts(context.messages).at(-1)),
      ["user: s1", "user: s2"],
    );
  });

  // Requirements: P30
  it("delivers steering after the turn's tools and before the next model call", async () => {
    const { agent, script } = rig(
      [call("a"), "Done."],
      [
        tool("a", () => {
          agent.steer({ ...hello, content: "Stop" });
          return "1";
        }),
      ],
    );
    await agent.prompt("Hi");
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []).slice(-2), [
      "toolResult: 1",
      "user: Stop",
    ]);
  });

  // Requirements: P20, P30
  it("delivers messages steered while idle with the first request, after the prompt", async () => {
    const { agent, script } = rig(["a", "b", "c"]);
    for (const content of ["s1", "s2"]) agent.steer({ ...hello, content });
    agent.followUp({ ...hello, content: "f1" });
    await agent.prompt("p");
    assert.deepEqual(
      script.calls.map(({ context }) =>
        texts(context.messages)
          .filter((text) => text.startsWith("user"))
          .at(-1),
      ),
      ["user: s1", "user: s2", "user: f1"],
    );
  });

  // Requirements: P20
  it("delivers all queued messages at once in the mode `all`", async () => {
    const { agent, script } = rig(["a", "b"], [], { followUpMode: "all" });
    for (const content of ["f1", "f2"]) agent.followUp({ ...hello, content });
    await agent.prompt("p");
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []).slice(-2), [
      "user: f1",
      "user: f2",
    ]);
    assert.equal(agent.hasQueuedMessages(), false);
  });

  // Requirements: P18
  it("adds a message to the state before it prepares the tools", async () => {
    const seen: string[] = [];
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], {
      beforeToolCall: async ({ context }) => {
        seen.push(context.messages.at(-1)?.role ?? "", agent.state.messages.at(-1)?.role ?? "");
      },
    });
    await agent.prompt("Hi");
    assert.deepEqual(seen, ["assistant", "assistant"]);
  });

  // Requirements: P9, P23
  it("exposes the live message on updates as one shared object that is not serialised", async () => {
    const { agent } = rig(["Hello there."]);
    const updates: AgentEvent[] = [];
    const live = new Set<AgentMessage | undefined>();
    agent.subscribe((event) => {
      if (event.type !== "message_update") return;
      updates.push(event);
      live
        .add(event.message)
        .add(event.assistantMessageEvent.partial)
        .add(agent.state.streamingMessage);
    });
    await agent.prompt("Hi");
    assert.ok(updates.length > 2);
    assert.deepEqual(
      [...live].map((message) => message && texts([message])),
      [["assistant: Hello there."]],
    );
    assert.ok(updates.every((event) => !JSON.stringify(event).includes('"message":{')));
  });

  // Requirements: P23, P28
  it("awaits listeners in order, and settles only after those of agent_end", async () => {
    const { agent } = rig(["Hello."]);
    const log: string[] = [];
    agent.subscribe(async ({ type }) => {
      if (type !== "agent_end") return;
      await new Promise((resolve) => setTimeout(resolve, 5));
      log.push("first", String(agent.state.isStreaming));
    });
    agent.subscribe(({ type }) => {
      if (type === "agent_end") log.push("second");
    });
    await agent.prompt("Hi");
    assert.deepEqual([...log, agent.state.isStreaming], ["first", "true", "second", false]);
  });

  it("calls a listener once even if subscribed twice, and never after it unsubscribed", async () => {
    const { agent } = rig(["Hello."]);
    const heard: string[] = [];
    const second = ({ type }: AgentEvent): void => void heard.push(`second ${type}`);
    const third = ({ type }: AgentEvent): void => void heard.push(`third ${type}`);
    agent.subscribe(async ({ type }) => {
      if (type !== "turn_start") return;
      agent.subscribe(third);
      await settle();
      leave();
    });
    const leave = agent.subscribe(second);
    agent.subscribe(second);
    await agent.prompt("Hi");
    assert.deepEqual(heard.slice(0, 3), [
      "second agent_start",
      "third turn_start",
      "third message_start",
    ]);
    assert.equal(heard.filter((line) => line.startsWith("second")).length, 1);
  });

  it("treats an undefined option as not given", async () => {
    const { agent } = rig(["Hello."], [], {
      convertToLlm: undefined,
      budget: undefined,
      toolExecution: undefined,
    });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal(agent.toolExecution, "parallel");
  });

  it("reports toolExecution as parallel by default", () => {
    assert.equal(rig([]).agent.toolExecution, "parallel");
    const { agent } = rig([], [], { toolExecution: "sequential" });
    assert.equal(agent.toolExecution, "sequential");
    agent.toolExecution = "parallel";
    assert.equal(agent.toolExecution, "parallel");
  });

  it("throws invalid_state when a listener calls waitForIdle", async () => {
    const { agent } = rig(["Hello."]);
    let thrown: unknown;
    agent.subscribe(() => {
      try {
        void agent.waitForIdle();
      } catch (error) {
        thrown = error;
      }
    });
    await agent.prompt("Hi");
    assert.ok(code("invalid_state")(thrown));
  });

  it("applies a change of model, tools and hooks to the next turn of the same run", async () => {
    const { agent, script } = rig(
      [call("a"), "Done."],
      [
        tool("a", () => {
          agent.state.model = { ...agent.state.model, id: "other" };
          agent.state.systemPrompt = "new";
          agent.state.tools = [];
          return "1";
        }),
      ],
    );
    await agent.prompt("Hi");
    const second = script.calls[1];
    assert.deepEqual(
      [second?.model.id, second?.context.systemPrompt, second?.context.tools],
      ["other", "new", []],
    );
  });

  it("runs the calls of an answer with the tools of its request, whatever is assigned while it streams", async () => {
    const { agent, script } = rig([call("a"), call("b"), "Done."], [tool("a", () => "1")]);
    agent.subscribe(({ type }) => {
      if (type === "message_update") agent.state.tools = [tool("b", () => "2")];
    });
    const { tools } = await agent.prompt("Hi");
    assert.deepEqual(
      tools.map(({ toolName, outcome }) => [toolName, outcome]),
      [
        ["a", "finished"],
        ["b", "finished"],
      ],
    );
    assert.deepEqual(
      script.calls.map(({ context }) => context.tools?.map(({ name }) => name)),
      [["a"], ["b"], ["b"]],
    );
  });

  // Requirements: X7
  it("passes the context and a stable idempotency key to tools", async () => {
    let seen: unknown[] = [];
    const spy: AgentTool["execute"] = (_id, _params, _signal, _update, about) => {
      seen = [about?.context, about?.idempotencyKey, about?.run.runId];
      return {};
    };
    const { agent } = rig([call("a"), "Done."], [{ ...tool("a", () => ""), execute: spy }], {
      context: { user: "u1" },
      createId: () => "run-1",
    });
    await agent.prompt("Hi");
    assert.deepEqual(seen, [{ user: "u1" }, "run-1:1:a", "run-1"]);
  });

  // Requirements: P20, X22
  it("passes every stream option on, and prefers getApiKey to apiKey", async () => {
    const { agent, script } = rig(["a"], [], {
      apiKey: "fixed",
      getApiKey: async (provider) => `for ${provider}`,
      temperature: 0.5,
      maxTokens: 9,
    });
    agent.state.thinkingLevel = "high";
    agent.sessionId = "s";
    await agent.prompt("Hi");
    const { apiKey, temperature, maxTokens, reasoning, sessionId } = script.calls[0]?.options ?? {};
    assert.deepEqual(
      { apiKey, temperature, maxTokens, reasoning, sessionId },
      { apiKey: "for scripted", temperature: 0.5, maxTokens: 9, reasoning: "high", sessionId: "s" },
    );
  });
});

describe("a provider that pauses its own work", () => {
  const paused = { content: [{ type: "text" as const, text: "searching" }], paused: true };

  it("gets its message back unchanged until it is done", async () => {
    const { agent, script } = rig([paused, paused, "Found."]);
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns], ["done", 3]);
    assert.deepEqual(texts(script.calls[2]?.context.messages ?? []), [
      "user: Hi",
      "assistant: searching",
      "assistant: searching",
    ]);
  });

  it("gives the run the text of all its parts, and only of these", async () => {
    const first = [{ type: "text" as const, text: "At first. " }, scriptedToolCall("a", {})];
    const { agent } = rig([{ content: first }, paused, paused, " Found."], [tool("a", () => "1")]);
    const run = await agent.prompt("Hi");
    assert.equal(run.text, "searchingsearching Found.");
  });

  it("without end is stopped", async () => {
    const { agent } = rig(Array.from({ length: 20 }, () => paused));
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns], ["length", 11]);
  });
});

describe("budgets", () => {
  it("of turns end the run with a reason, the best answer so far, and the queues intact", async () => {
    const { agent, script } = rig(
      [{ content: [{ type: "text", text: "so far" }, scriptedToolCall("a", {})] }],
      [tool("a", () => "1")],
      { budget: { maxTurns: 1 } },
    );
    agent.followUp(hello);
    const run = await agent.prompt("Hi");
    assert.deepEqual(
      [run.reason, run.error?.code, script.calls.length],
      ["budget", "budget_exceeded", 1],
    );
    assert.equal(run.message?.content[0]?.type === "text" && run.message.content[0].text, "so far");
    assert.equal(agent.hasQueuedMessages(), true);
  });

  it("of tokens and money count reported usage; unreported tokens are estimated, unreported cost is not", async () => {
    const costly = { ...call("a"), usage: { input: 90, output: 20, cost: { total: 0.2 } } };
    for (const budget of [{ maxTokens: 100 }, { maxCost: 0.1 }]) {
      const { agent } = rig([costly, "never"], [tool("a", () => "1")], { budget });
      assert.equal((await agent.prompt("Hi")).reason, "budget");
    }
    for (const [budget, reason] of [
      [{ maxTokens: 1 }, "budget"],
      [{ maxTokens: 1000, maxCost: 0.01 }, "done"],
    ] as const) {
      const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], { budget });
      const run = await agent.prompt("Hi");
      assert.deepEqual([run.reason, run.usage], [reason, {}]); // unknown usage stays unknown
    }
  });

  it("of time end a running tool", async () => {
    const clock = new ManualClock();
    const { agent } = rig([call("a")], [tool("a", () => new Promise(() => {}))], {
      clock,
      budget: { maxTimeMs: 100 },
      abortGraceMs: 50,
    });
    const run = agent.prompt("Hi");
    await clock.advance(150);
    assert.deepEqual([(await run).reason, (await run).error?.code], ["budget", "budget_exceeded"]);
  });

  it("do not turn a finished answer into a failure", async () => {
    const { agent } = rig(["Done."], [], { budget: { maxTurns: 1 } });
    assert.equal((await agent.prompt("Hi")).reason, "done");
  });
});

describe("agentLoop", () => {
  const config = (script: ReturnType<typeof createScriptedModel>) => ({
    model: script.model,
    convertToLlm: (messages: AgentMessage[]) => messages as AssistantMessage[],
  });

  // Requirements: P1, P35
  it("emits the run's events, returns the new messages, and does not change the caller's context", async () => {
    const script = createScriptedModel(["Hello."]);
    const context = { systemPrompt: "", messages: [] as AgentMessage[] };
    const stream = agentLoop([hello], context, config(script), undefined, script.streamFn);
    assert.deepEqual(texts(await stream.result()), ["user: Hello", "assistant: Hello."]);
    assert.deepEqual(context.messages, []);
  });

  // Requirements: P35
  it("continues by pushing onto the caller's messages", async () => {
    const script = createScriptedModel(["Hello."]);
    const context = { systemPrompt: "", messages: [hello] };
    await agentLoopContinue(context, config(script), undefined, script.streamFn).result();
    assert.deepEqual(texts(context.messages), ["user: Hello", "assistant: Hello."]);
    assert.throws(
      () => agentLoopContinue(context, config(script), undefined, script.streamFn),
      code("invalid_state"),
    );
  });

  // Requirements: X23
  it("aborts the run when its reader stops", async () => {
    const script = createScriptedModel(["A long answer."], { deltaLength: 1, delayMs: 1 });
    const stream = agentLoop(
      [hello],
      { systemPrompt: "", messages: [] },
      config(script),
      undefined,
      script.streamFn,
    );
    for await (const event of stream) if (event.type === "message_update") break;
    const last = (await stream.result()).at(-1);
    assert.equal(last?.role === "assistant" && last.stopReason, "aborted");
  });

  // Requirements: P17
  it("stops after a turn when shouldStopAfterTurn returns true, before it reads any queue", async () => {
    const script = createScriptedModel([call("a"), "never"]);
    let polled = 0;
    const stream = agentLoop(
      [hello],
      { systemPrompt: "", messages: [], tools: [tool("a", () => "1")] },
      {
        ...config(script),
        shouldStopAfterTurn: ({ toolResults }) => toolResults.length === 1,
        getFollowUpMessages: () => (polled++, []),
      },
      undefined,
      script.streamFn,
    );
    assert.equal((await stream.result()).length, 3);
    assert.equal(polled, 0);
  });

  it("refuses to start without a stream function", async () => {
    const script = createScriptedModel(["Hello."]);
    assert.throws(
      () => agentLoop([hello], { systemPrompt: "", messages: [] }, config(script)),
      code("invalid_argument"),
    );
  });
});
