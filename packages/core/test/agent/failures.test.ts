/** The effects of tools, aborts and throwing callbacks on a run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, agentLoop, type AgentEvent, type AgentMessage } from "../../src/agent/index.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { Model } from "../../src/llm/model.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { call, hello, rig, short, tool } from "../support.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

describe("tools", () => {
  // Requirements: P14, P15
  it("can be blocked with a reason, and their results replaced field by field", async () => {
    const { agent } = rig(
      [{ content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] }, "Done."],
      [tool("a", () => "1"), tool("b", () => "2")],
      {
        beforeToolCall: ({ toolCall }) =>
          toolCall.name === "a" ? { block: true, reason: "not today" } : undefined,
        // An undefined field replaces nothing.
        afterToolCall: ({ result }) => ({
          ...({ content: undefined } as object),
          details: { ...result.details, audited: true },
        }),
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

  // Requirements: P16, X30
  it("end the run without another model call when every result of the batch terminates", async () => {
    const ending = { ...tool("a", () => ""), execute: () => ({ content: [], terminate: true }) };
    const { agent, script } = rig([call("a")], [ending]);
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.equal(script.calls.length, 1);
    assert.equal(JSON.stringify(agent.state.messages).includes("terminate"), false);
  });

  // Requirements: P16
  it("continue the run when only some results of the batch terminate", async () => {
    const ending = { ...tool("a", () => ""), execute: () => ({ content: [], terminate: true }) };
    const { agent, script } = rig(
      [{ content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] }, "Done."],
      [ending, tool("b", () => "2")],
    );
    await agent.prompt("Hi");
    assert.equal(script.calls.length, 2);
  });

  // Requirements: P33
  it("emit progress until they settle, and not after", async () => {
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

  it("fail when they return a value that no model accepts, and do not break later requests", async () => {
    const resource = { type: "resource", resource: { uri: "a", text: "b" } };
    const contents = [
      "text",
      [null],
      [5],
      ["text"],
      [{ type: "text" }],
      [{ type: "image" }],
      [resource],
    ];
    for (const result of contents.map((content) => ({ content, details: 1 }))) {
      const { agent } = rig(
        [call("a"), "Done."],
        [{ ...tool("a", () => ""), execute: () => result as never }],
      );
      const { messages, tools } = await agent.prompt("Hi");
      const [refused = "", answer] = texts(messages).slice(2);
      assert.match(
        refused,
        /^toolResult: The tool returned no \{ content \} of text, images or files\./,
      );
      assert.equal(answer, "assistant: Done.");
      assert.equal(tools[0]?.outcome, "failed");
    }
  });

  it("are suggested to the model when it misspells their name", async () => {
    const { agent } = rig(
      [call("ReadFile"), "Done."],
      [tool("read_file", () => ""), tool("b", () => "")],
    );
    const said = 'Tool "ReadFile" not found. Did you mean read_file? Available: read_file, b.';
    assert.equal(texts((await agent.prompt("Hi")).messages)[2], `toolResult: ${said}`);
  });

  // Requirements: P14
  it("that are blocked without a reason get a result that says so", async () => {
    for (const blocked of [{ block: true }, { block: true, reason: "" }]) {
      const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], {
        beforeToolCall: () => blocked,
      });
      assert.equal(
        texts((await agent.prompt("Hi")).messages)[2],
        "toolResult: Tool execution was blocked",
      );
    }
  });

  // Requirements: X29
  it("do not run for an answer cut by the token limit, and a model that repeats that is stopped", async () => {
    let ran = 0;
    const cut = { ...call("a"), stopReason: "length" as const };
    const { agent } = rig([cut, cut, cut], [tool("a", () => String(ran++))]);
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.turns, ran], ["length", 3, 0]);
  });

  // Requirements: X5
  it("do not run on malformed arguments", async () => {
    let ran = 0;
    const bad = {
      type: "toolCall" as const,
      id: "a",
      name: "a",
      arguments: {},
      argumentsText: '{"x":',
    };
    const { agent } = rig([{ content: [bad] }, "Done."], [tool("a", () => String(ran++))]);
    await agent.prompt("Hi");
    assert.equal(ran, 0);
    assert.match(JSON.stringify(agent.state.messages), /not valid JSON/);
  });

  // Requirements: X5
  it("quote at most 500 characters of malformed arguments to the model", async () => {
    const wrote = (argumentsText: string): ReturnType<typeof call> => ({
      content: [{ type: "toolCall", id: "a", name: "a", arguments: {}, argumentsText }],
    });
    const long = `{"x": "${"y".repeat(600)}`;
    const { agent } = rig([wrote('{"x":'), wrote(long), "Done."], [tool("a", () => "")]);
    const [, , first = "", , second = ""] = texts((await agent.prompt("Hi")).messages);
    assert.match(first, / Call a again with valid JSON\. You wrote: \{"x":$/);
    assert.ok(second.endsWith(` You wrote: ${long.slice(0, 500)}…`), second);
  });

  for (const [timeoutMs, said] of [
    [500, "less than 1 s"],
    [2300, "2.5 s"],
  ] as const)
    it(`are stopped at their limit of ${timeoutMs} ms, and reported as left running when they do not stop`, async () => {
      const clock = new ManualClock();
      const { agent, events } = rig(
        [call("a"), "Done."],
        [tool("a", () => new Promise(() => {}), { timeoutMs })],
        { clock, abortGraceMs: 200 },
      );
      const run = agent.prompt("Hi");
      await clock.advance(timeoutMs + 199);
      assert.equal(agent.state.pendingToolCalls.has("a"), true);
      await clock.advance(1);
      const { tools, messages } = await run;
      assert.deepEqual(tools, [{ toolCallId: "a", toolName: "a", outcome: "left_running" }]);
      assert.match(texts(messages)[2] ?? "", new RegExp(`was left running after ${said} and may`));
      const end = events.find((event) => event.type === "tool_execution_end");
      assert.equal(end?.durationMs, timeoutMs + 200);
      assert.equal(clock.pending, 0);
    });
});

describe("an abort", () => {
  // Requirements: P27, P38
  it("settles after the grace period when a tool ignores it, asks the model nothing more and keeps the queues", async () => {
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

  it("settles after the grace period when a stream function ignores it, with the partial answer", async () => {
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

  it("leaves the agent ready for another prompt", async () => {
    const { agent } = rig(
      [call("a"), "Fine."],
      [
        tool(
          "a",
          (signal) =>
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(new Error("stopped"))),
            ),
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

describe("a callback that throws", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const failures = {
    convertToLlm: [{ convertToLlm: boom }, "hook_failed"],
    transformContext: [{ transformContext: boom }, "hook_failed"],
    getApiKey: [{ getApiKey: boom }, "hook_failed"],
    "a stream function that throws": [{ streamFn: boom }, "stream_function_failed"],
    "a stream function that rejects": [
      { streamFn: () => Promise.reject(new Error("boom")) },
      "stream_function_failed",
    ],
    "a stream without an end": [{ streamFn: async function* () {} as never }, "stream_truncated"],
    shouldStopAfterTurn: [{ shouldStopAfterTurn: boom }, "hook_failed"],
  } as const;

  for (const [what, [options, expected]] of Object.entries(failures)) {
    // Requirements: P10, P38, X14
    it(`(${what}) ends the run once, with a typed error and a valid transcript`, async () => {
      const { agent, events } = rig(["Hello."], [], options);
      const run = await agent.prompt("Hi");
      assert.equal(run.reason, "error");
      assert.equal(run.error?.code, expected);
      assert.equal(events.filter(({ type }) => type === "agent_end").length, 1);
      assert.equal(events.at(-1)?.type, "agent_end");
      assert.match(agent.state.errorMessage ?? "", /boom|before the answer was complete/);
      assert.equal(agent.state.messages.at(-1)?.role, "assistant");
    });

    // Requirements: P38, X14
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

  // Requirements: P38
  it("(a listener) ends the run with listener_failed after a running tool's result was recorded", async () => {
    const { agent, events } = rig([call("a"), "never"], [tool("a", () => "kept")]);
    agent.subscribe((event) => {
      if (event.type === "tool_execution_end") boom();
    });
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.reason, run.error?.code], ["error", "listener_failed"]);
    assert.deepEqual(texts(agent.state.messages), [
      "user: Hi",
      "assistant: toolCall",
      "toolResult: kept",
    ]);
    assert.equal(short(events.at(-1) as AgentEvent), "agent_end:error");
  });

  it("(a listener, while the model answers) is no abort: the answer failed, too", async () => {
    for (const type of ["message_start", "message_update"] as const) {
      const { streamFn } = createScriptedModel(["Hello. ".repeat(50)], { delayMs: 1 });
      const { agent } = rig([], [], { streamFn });
      agent.subscribe((event) => {
        if (event.type === type && event.message.role === "assistant") boom();
      });
      const run = await agent.prompt("Hi");
      const answer = run.message;
      assert.deepEqual([run.reason, run.error?.code], ["error", "listener_failed"], type);
      assert.deepEqual(
        [answer?.stopReason, answer?.error?.code],
        ["error", "listener_failed"],
        type,
      );
    }
  });

  it("(a listener of agent_end) still resolves the prompt", async () => {
    const { agent } = rig(["Hello."]);
    agent.subscribe((event) => {
      if (event.type === "agent_end") boom();
    });
    const run = await agent.prompt("Hi");
    assert.deepEqual(
      [run.reason, run.error?.code, agent.state.isStreaming],
      ["error", "listener_failed", false],
    );
  });

  it("(a listener that never settles) is given up at its time limit", async () => {
    const clock = new ManualClock();
    const { agent } = rig(["Hello."], [], { clock, hookTimeoutMs: 1000 });
    agent.subscribe((event) => (event.type === "turn_start" ? new Promise(() => {}) : undefined));
    const run = agent.prompt("Hi");
    await clock.advance(1000);
    assert.equal((await run).error?.code, "listener_failed");
  });

  // Requirements: P38, X8
  it("(beforeToolCall, afterToolCall, prepareArguments) gives an error result, and the run goes on", async () => {
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
