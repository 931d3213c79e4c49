import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, agentLoop, agentLoopContinue, type AgentEvent, type AgentMessage } from "../src/agent/index.ts";
import { isBowlineError, type ErrorCode } from "../src/errors.ts";
import type { AssistantMessage } from "../src/llm/message.ts";
import type { Model } from "../src/llm/model.ts";
import { createScriptedModel, scriptedToolCall } from "../src/testing/index.ts";
import { deferred, ManualClock, rig, short, tool } from "./support.ts";

const hello: AgentMessage = { role: "user", content: "Hello", timestamp: 1 };
const call = (name: string, id = name): { content: ReturnType<typeof scriptedToolCall>[] } => ({
  content: [scriptedToolCall(name, {}, id)],
});
const code = (expected: ErrorCode) => (error: unknown) => isBowlineError(error) && error.code === expected;
const textOf = ({ role, content }: AgentMessage): string =>
  `${role}: ${typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;
const texts = (messages: readonly AgentMessage[]): string[] => messages.map(textOf);

describe("Agent", () => {
  it("resolves a prompt to what the run came to", async () => {
    const { agent } = rig(
      [call("a"), { content: [{ type: "text", text: "Done." }], usage: { input: 3, output: 2 } }],
      [tool("a", () => "1")],
    );
    const run = await agent.prompt("Hi");
    assert.equal(run.reason, "done");
    assert.equal(run.turns, 2);
    assert.deepEqual(run.tools, [{ toolCallId: "a", toolName: "a", outcome: "finished" }]);
    assert.deepEqual(run.usage, { input: 3, output: 2, totalTokens: 5 });
    assert.deepEqual(texts(run.messages), ["user: Hi", "assistant: toolCall", "toolResult: 1", "assistant: Done."]);
  });

  it("sends images with the text, and takes a message or several as they are", async () => {
    const { agent, script } = rig(["ok", "ok"]);
    await agent.prompt("See", [{ type: "image", data: "aGk=", mimeType: "image/png" }]);
    await agent.prompt([hello]);
    assert.deepEqual(script.calls[0]?.context.messages[0]?.content, [
      { type: "text", text: "See" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]);
    assert.deepEqual(script.calls[1]?.context.messages.at(-1), hello);
  });

  it("refuses a second prompt, continue and reset during a run, and says what to do", async () => {
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

  it("continues from a user message or a tool result only", async () => {
    const { agent } = rig(["Hi."]);
    await assert.rejects(agent.continue(), /no messages/);
    agent.state.messages = [hello];
    await agent.continue();
    await assert.rejects(agent.continue(), /assistant message/);
  });

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
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []).slice(-2), ["toolResult: 1", "user: Stop"]);
  });

  it("delivers what was steered while idle with the first request, after the prompt", async () => {
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

  it("delivers everything at once in the mode `all`", async () => {
    const { agent, script } = rig(["a", "b"], [], { followUpMode: "all" });
    for (const content of ["f1", "f2"]) agent.followUp({ ...hello, content });
    await agent.prompt("p");
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []).slice(-2), ["user: f1", "user: f2"]);
    assert.equal(agent.hasQueuedMessages(), false);
  });

  it("shows listeners a state that already holds the message, before tools are prepared", async () => {
    const seen: string[] = [];
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], {
      beforeToolCall: async ({ context }) => {
        seen.push(context.messages.at(-1)?.role ?? "", agent.state.messages.at(-1)?.role ?? "");
      },
    });
    await agent.prompt("Hi");
    assert.deepEqual(seen, ["assistant", "assistant"]);
  });

  it("exposes the live message on updates as one shared object that is never serialised", async () => {
    const { agent } = rig(["Hello there."]);
    const updates: AgentEvent[] = [];
    agent.subscribe((event) => {
      if (event.type !== "message_update") return;
      updates.push(event);
      assert.equal(event.message, event.assistantMessageEvent.partial);
      assert.equal(event.message, agent.state.streamingMessage);
    });
    await agent.prompt("Hi");
    assert.ok(updates.length > 0);
    assert.ok(updates.every((event) => !JSON.stringify(event).includes('"message":{')));
  });

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

  it("throws at once when a listener waits for idle", async () => {
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

  it("takes a change of model, tools and hooks for the next turn of the same run", async () => {
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
    assert.deepEqual([second?.model.id, second?.context.systemPrompt, second?.context.tools], ["other", "new", []]);
  });

  it("hands the context and a stable key to tools", async () => {
    let seen: unknown;
    const { agent } = rig(
      [call("a"), "Done."],
      [{ ...tool("a", () => ""), execute: (_id, _params, _signal, _update, run) => ((seen = run), {}) }],
      { context: { user: "u1" }, createId: () => "run-1" },
    );
    await agent.prompt("Hi");
    assert.deepEqual(seen, { context: { user: "u1" }, idempotencyKey: "run-1:1:a" });
  });

  it("passes every stream option on, and a key by getApiKey before apiKey", async () => {
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

describe("tools", () => {
  it("can be blocked with a reason, and their results replaced field by field", async () => {
    const { agent } = rig(
      [{ content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] }, "Done."],
      [tool("a", () => "1"), tool("b", () => "2")],
      {
        beforeToolCall: ({ toolCall }) => (toolCall.name === "a" ? { block: true, reason: "not today" } : undefined),
        afterToolCall: ({ result }) => ({ details: { ...result.details, audited: true } }),
      },
    );
    await agent.prompt("Hi");
    const results = agent.state.messages.filter((message) => message.role === "toolResult");
    assert.deepEqual(texts(results), ["toolResult: not today", "toolResult: 2"]);
    assert.deepEqual(
      results.map((message) => message.role === "toolResult" && message.details),
      [undefined, { audited: true }],
    );
  });

  it("end the run without another model call when every result of the batch terminates", async () => {
    const ending = { ...tool("a", () => ""), execute: () => ({ content: [], terminate: true }) };
    const { agent, script } = rig([call("a")], [ending]);
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal(script.calls.length, 1);
    assert.equal(JSON.stringify(agent.state.messages).includes("terminate"), false);
  });

  it("go on when only some results of the batch terminate", async () => {
    const ending = { ...tool("a", () => ""), execute: () => ({ content: [], terminate: true }) };
    const { agent, script } = rig(
      [{ content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] }, "Done."],
      [ending, tool("b", () => "2")],
    );
    await agent.prompt("Hi");
    assert.equal(script.calls.length, 2);
  });

  it("stream progress until they settle, and not after", async () => {
    let late: (() => void) | undefined;
    const { agent, events } = rig(
      [call("a"), "Done."],
      [
        {
          ...tool("a", () => ""),
          execute: (_id, _params, _signal, onUpdate) => {
            onUpdate?.({ content: [{ type: "text", text: "half" }] });
            late = () => onUpdate?.({ content: [] });
            return {};
          },
        },
      ],
    );
    await agent.prompt("Hi");
    late?.();
    assert.equal(events.filter(({ type }) => type === "tool_execution_update").length, 1);
  });

  it("that give back nothing fail as any other failure", async () => {
    const { agent } = rig([call("a"), "Done."], [{ ...tool("a", () => ""), execute: () => undefined as never }]);
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.match(JSON.stringify(agent.state.messages), /returned no result/);
  });

  it("of an answer that the token limit cut are not run, and a model that goes on so is stopped", async () => {
    let ran = 0;
    const cut = { ...call("a"), stopReason: "length" as const };
    const { agent } = rig([cut, cut, cut], [tool("a", () => String(ran++))]);
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns, ran], ["length", 3, 0]);
  });

  it("are not run on malformed arguments", async () => {
    let ran = 0;
    const bad = { type: "toolCall" as const, id: "a", name: "a", arguments: {}, argumentsText: '{"x":' };
    const { agent } = rig([{ content: [bad] }, "Done."], [tool("a", () => String(ran++))]);
    await agent.prompt("Hi");
    assert.equal(ran, 0);
    assert.match(JSON.stringify(agent.state.messages), /not valid JSON/);
  });

  it("are stopped by their time limit, and reported as left running when they do not stop", async () => {
    const clock = new ManualClock();
    const { agent, events } = rig([call("a"), "Done."], [tool("a", () => new Promise(() => {}), { timeoutMs: 500 })], {
      clock,
      abortGraceMs: 200,
    });
    const run = agent.prompt("Hi");
    await clock.advance(699);
    assert.equal(agent.state.pendingToolCalls.has("a"), true);
    await clock.advance(1);
    assert.deepEqual((await run).tools, [{ toolCallId: "a", toolName: "a", outcome: "left_running" }]);
    const end = events.find((event) => event.type === "tool_execution_end");
    assert.equal(end?.durationMs, 700);
    assert.equal(clock.pending, 0);
  });
});

describe("a provider that pauses its own work", () => {
  const paused = { content: [{ type: "text" as const, text: "searching" }], paused: true };

  it("gets its message back as it is, until it is done", async () => {
    const { agent, script } = rig([paused, paused, "Found."]);
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns], ["done", 3]);
    assert.deepEqual(texts(script.calls[2]?.context.messages ?? []), [
      "user: Hi",
      "assistant: searching",
      "assistant: searching",
    ]);
  });

  it("for ever is stopped", async () => {
    const { agent } = rig(Array.from({ length: 20 }, () => paused));
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns], ["length", 11]);
  });
});

describe("an abort", () => {
  it("during a tool that ignores it settles at the grace, asks the model nothing more and keeps the queues", async () => {
    const clock = new ManualClock();
    const { agent, script } = rig(
      [{ content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] }],
      [tool("a", () => new Promise(() => {})), tool("b", () => "2")],
      {
        clock,
        abortGraceMs: 200,
        toolExecution: "sequential",
      },
    );
    agent.followUp(hello);
    const run = agent.prompt("Hi");
    await clock.advance(10);
    agent.steer(hello);
    agent.abort();
    await clock.advance(200);
    const result = await run;
    assert.equal(result.reason, "aborted");
    assert.deepEqual(
      result.tools.map(({ outcome }) => outcome),
      ["left_running", "not_started"],
    );
    assert.equal(script.calls.length, 1);
    assert.equal(agent.hasQueuedMessages(), true);
    assert.deepEqual(
      agent.state.messages.map(({ role }) => role),
      ["user", "assistant", "toolResult", "toolResult"],
    );
  });

  it("of a stream function that ignores its signal settles at the grace, with what came", async () => {
    const clock = new ManualClock();
    const { model } = createScriptedModel([]);
    const agent = new Agent({
      initialState: { model },
      clock,
      streamFn: async function* (asked: Model) {
        yield {
          type: "start" as const,
          attempt: 1,
          api: asked.api,
          provider: asked.provider,
          model: asked.id,
          timestamp: 1,
        };
        yield { type: "text_start" as const, attempt: 1, contentIndex: 0 };
        yield { type: "text_delta" as const, attempt: 1, contentIndex: 0, delta: "half" };
        await new Promise(() => {});
      },
    });
    const run = agent.prompt("Hi");
    await clock.advance(1);
    agent.abort();
    await clock.advance(1000);
    const { message, reason } = await run;
    assert.deepEqual(
      [reason, message?.stopReason, message?.content],
      ["aborted", "aborted", [{ type: "text", text: "half" }]],
    );
  });

  it("leaves an agent that can be prompted again", async () => {
    const { agent } = rig(
      [call("a"), "Fine."],
      [
        tool(
          "a",
          (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
        ),
      ],
    );
    const run = agent.prompt("Hi");
    agent.subscribe(({ type }) => {
      if (type === "tool_execution_start") setTimeout(() => agent.abort(), 1);
    });
    assert.deepEqual(
      (await run).tools.map(({ outcome }) => outcome),
      ["stopped"],
    );
    assert.equal((await agent.prompt("Again")).reason, "done");
  });
});

describe("whatever throws", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const failures = {
    convertToLlm: [{ convertToLlm: boom }, "hook_failed"],
    transformContext: [{ transformContext: boom }, "hook_failed"],
    getApiKey: [{ getApiKey: boom }, "hook_failed"],
    "a stream function that throws": [{ streamFn: boom }, "stream_function_failed"],
    "a stream function that rejects": [{ streamFn: () => Promise.reject(new Error("boom")) }, "stream_function_failed"],
    "a stream without an end": [{ streamFn: async function* () {} as never }, "stream_truncated"],
    shouldStopAfterTurn: [{ shouldStopAfterTurn: boom }, "hook_failed"],
  } as const;

  for (const [what, [options, expected]] of Object.entries(failures)) {
    it(`(${what}) ends the run once, typed, with a valid transcript`, async () => {
      const { agent, events } = rig(["Hello."], [], options);
      const run = await agent.prompt("Hi");
      assert.equal(run.reason, "error");
      assert.equal(run.error?.code, expected);
      assert.equal(events.filter(({ type }) => type === "agent_end").length, 1);
      assert.equal(events.at(-1)?.type, "agent_end");
      assert.match(agent.state.errorMessage ?? "", /boom|without a final event/);
      assert.equal(agent.state.messages.at(-1)?.role, "assistant");
    });

    it(`(${what}) ends the low-level stream instead of hanging it`, async () => {
      const { streamFn, ...rest } = { streamFn: undefined, ...options };
      const script = createScriptedModel(["Hello."]);
      const convertToLlm = (messages: AgentMessage[]) => messages as AssistantMessage[];
      const seen: string[] = [];
      for await (const event of agentLoop(
        [hello],
        { systemPrompt: "", messages: [] },
        { model: script.model, convertToLlm, ...rest },
        undefined,
        streamFn ?? script.streamFn,
      ))
        seen.push(short(event));
      assert.equal(seen.at(-1), "agent_end:error");
    });
  }

  it("(a listener) ends the run with listener_failed after a running tool's result was recorded", async () => {
    const { agent, events } = rig([call("a"), "never"], [tool("a", () => "kept")]);
    agent.subscribe((event) => {
      if (event.type === "tool_execution_end") boom();
    });
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.error?.code], ["error", "listener_failed"]);
    assert.deepEqual(texts(agent.state.messages), ["user: Hi", "assistant: toolCall", "toolResult: kept"]);
    assert.equal(short(events.at(-1) as AgentEvent), "agent_end:error");
  });

  it("(a listener of agent_end) still resolves the prompt", async () => {
    const { agent } = rig(["Hello."]);
    agent.subscribe((event) => {
      if (event.type === "agent_end") boom();
    });
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.error?.code, agent.state.isStreaming], ["error", "listener_failed", false]);
  });

  it("(a listener that never settles) is given up at its limit", async () => {
    const clock = new ManualClock();
    const { agent } = rig(["Hello."], [], { clock, hookTimeoutMs: 1000 });
    agent.subscribe((event) => (event.type === "turn_start" ? new Promise(() => {}) : undefined));
    const run = agent.prompt("Hi");
    await clock.advance(1000);
    assert.equal((await run).error?.code, "listener_failed");
  });

  it("(beforeToolCall, afterToolCall, prepareArguments) is an error result, and the run goes on", async () => {
    for (const options of [{ beforeToolCall: boom }, { afterToolCall: boom }]) {
      const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], options);
      assert.equal((await agent.prompt("Hi")).reason, "done");
      assert.match(JSON.stringify(agent.state.messages[2]), /boom/);
    }
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "1", { prepareArguments: boom })]);
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.match(JSON.stringify(agent.state.messages[2]), /boom/);
  });
});

describe("budgets", () => {
  it("of turns end the run with a reason, the best answer so far, and queues kept", async () => {
    const { agent, script } = rig(
      [{ content: [{ type: "text", text: "so far" }, scriptedToolCall("a", {})] }],
      [tool("a", () => "1")],
      { budget: { maxTurns: 1 } },
    );
    agent.followUp(hello);
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.error?.code, script.calls.length], ["budget", "budget_exceeded", 1]);
    assert.equal(run.message?.content[0]?.type === "text" && run.message.content[0].text, "so far");
    assert.equal(agent.hasQueuedMessages(), true);
  });

  it("of tokens and money count what is reported, and unknown is not zero spent", async () => {
    const costly = { ...call("a"), usage: { input: 90, output: 20, cost: { total: 0.2 } } };
    for (const budget of [{ maxTokens: 100 }, { maxCost: 0.1 }]) {
      const { agent } = rig([costly, "never"], [tool("a", () => "1")], { budget });
      assert.equal((await agent.prompt("Hi")).reason, "budget");
    }
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], { budget: { maxTokens: 1, maxCost: 0.01 } });
    assert.deepEqual((await agent.prompt("Hi")).reason, "done");
  });

  it("of time end a tool that is running", async () => {
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

  it("gives the run's events and new messages, and leaves the caller's context alone", async () => {
    const script = createScriptedModel(["Hello."]);
    const context = { systemPrompt: "", messages: [] as AgentMessage[] };
    const stream = agentLoop([hello], context, config(script), undefined, script.streamFn);
    assert.deepEqual(texts(await stream.result()), ["user: Hello", "assistant: Hello."]);
    assert.deepEqual(context.messages, []);
  });

  it("continues by pushing onto the caller's messages", async () => {
    const script = createScriptedModel(["Hello."]);
    const context = { systemPrompt: "", messages: [hello] };
    await agentLoopContinue(context, config(script), undefined, script.streamFn).result();
    assert.deepEqual(texts(context.messages), ["user: Hello", "assistant: Hello."]);
    assert.throws(() => agentLoopContinue(context, config(script), undefined, script.streamFn), code("invalid_state"));
  });

  it("aborts the run when its reader leaves", async () => {
    const script = createScriptedModel(["A long answer."], { deltaLength: 1, delayMs: 1 });
    const stream = agentLoop([hello], { systemPrompt: "", messages: [] }, config(script), undefined, script.streamFn);
    for await (const event of stream) if (event.type === "message_update") break;
    const last = (await stream.result()).at(-1);
    assert.equal(last?.role === "assistant" && last.stopReason, "aborted");
  });

  it("stops after a turn when shouldStopAfterTurn says so, before any queue is read", async () => {
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
