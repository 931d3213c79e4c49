/**
 * The order of a run's events, as users of the Agent see it. A change here is a change of the
 * contract.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { Agent, type AgentTool } from "../../src/agent/index.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { rig, short, tool } from "../support.ts";

const user = ["message_start:user", "message_end:user"];
const text = [
  "message_start:assistant",
  "message_update:text_start",
  "message_update:text_delta",
  "message_update:text_end",
  "message_end:assistant",
];
const result = (id: string): string[] => [`message_start:result ${id}`, `message_end:result ${id}`];
const asks = (calls: number): string[] => [
  "message_start:assistant",
  ...Array.from({ length: calls }, () => [
    "message_update:toolcall_start",
    "message_update:toolcall_delta",
    "message_update:toolcall_end",
  ]).flat(),
  "message_end:assistant",
];
const answer = ["turn_start", ...text, "turn_end", "agent_end:done"];
const calls = (...ids: string[]): { content: ReturnType<typeof scriptedToolCall>[] } => ({
  content: ids.map((id) => scriptedToolCall(id, {}, id)),
});

describe("the order of events", () => {
  // Requirements: P6, P8, P10
  it("of a plain prompt", async () => {
    const { agent, events } = rig(["Hello."]);
    await agent.prompt("Hi");
    assert.deepEqual(events.map(short), [
      "agent_start",
      "turn_start",
      ...user,
      ...text,
      "turn_end",
      "agent_end:done",
    ]);
  });

  // Requirements: P7, P8, X10, X11
  it("of one tool", async () => {
    const { agent, events } = rig([calls("a"), "Done."], [tool("a", () => "1")]);
    await agent.prompt("Hi");
    assert.deepEqual(events.map(short), [
      "agent_start",
      "turn_start",
      ...user,
      ...asks(1),
      "tool_execution_start:a",
      "tool_execution_end:a",
      ...result("a"),
      "turn_end",
      ...answer,
    ]);
  });

  // Requirements: P11, P12, X17
  it("of three parallel tools that finish out of order: ends in order of completion, results in order of the calls", async () => {
    const gates = { a: deferred<string>(), b: deferred<string>(), c: deferred<string>() };
    const tools = [
      tool("a", () => gates.a.promise),
      tool("b", () => gates.b.promise),
      tool("c", () => {
        gates.c.resolve("c");
        return gates.c.promise;
      }),
    ];
    const { agent, events } = rig([calls("a", "b", "c"), "Done."], tools);
    agent.subscribe((event) => {
      if (event.type !== "tool_execution_end") return;
      if (event.toolCallId === "c") gates.b.resolve("b");
      if (event.toolCallId === "b") gates.a.resolve("a");
    });
    await agent.prompt("Hi");
    assert.deepEqual(events.map(short), [
      "agent_start",
      "turn_start",
      ...user,
      ...asks(3),
      "tool_execution_start:a",
      "tool_execution_start:b",
      "tool_execution_start:c",
      "tool_execution_end:c",
      "tool_execution_end:b",
      "tool_execution_end:a",
      ...result("a"),
      ...result("b"),
      ...result("c"),
      "turn_end",
      ...answer,
    ]);
    const turnEnd = events.find((event) => event.type === "turn_end");
    assert.deepEqual(
      turnEnd?.toolResults.map((message) => message.toolCallId),
      ["a", "b", "c"],
    );
  });

  for (const [how, options, mode] of [
    ["the setting says so", { toolExecution: "sequential" }, undefined],
    ["one tool of the batch says so", {}, "sequential"],
  ] as const) {
    // Requirements: P11, P13, X17
    it(`of sequential tools, because ${how}: each ends and is recorded before the next starts`, async () => {
      const tools = [
        tool("a", () => "1"),
        tool("b", () => "2", mode === undefined ? {} : { executionMode: mode }),
      ];
      const { agent, events } = rig([calls("a", "b"), "Done."], tools, options);
      await agent.prompt("Hi");
      assert.deepEqual(events.map(short), [
        "agent_start",
        "turn_start",
        ...user,
        ...asks(2),
        "tool_execution_start:a",
        "tool_execution_end:a",
        ...result("a"),
        "tool_execution_start:b",
        "tool_execution_end:b",
        ...result("b"),
        "turn_end",
        ...answer,
      ]);
    });
  }

  it(
    // Requirements: P13
    "of tools marked `parallel` in a sequential agent: they run together, unless another tool of the batch is not marked",
    { timeout: 60_000 },
    async () => {
      const run = async (extra: Partial<AgentTool>): Promise<string[]> => {
        const gate = deferred<string>();
        const first = tool("a", () => (extra.executionMode ? gate.promise : "1"), {
          executionMode: "parallel",
        });
        const tools = [first, tool("b", () => "2", extra)];
        const { agent, events } = rig([calls("a", "b"), "Done."], tools, {
          toolExecution: "sequential",
        });
        agent.subscribe(
          (event) => void (short(event) === "tool_execution_end:b" && gate.resolve("1")),
        );
        await agent.prompt("Hi");
        return events.map(short).filter((event) => event.startsWith("tool_"));
      };
      const [start, end] = ["tool_execution_start", "tool_execution_end"];
      assert.deepEqual(await run({ executionMode: "parallel" }), [
        `${start}:a`,
        `${start}:b`,
        `${end}:b`,
        `${end}:a`,
      ]);
      assert.deepEqual(await run({}), [`${start}:a`, `${end}:a`, `${start}:b`, `${end}:b`]);
    },
  );

  for (const [what, tools, said] of [
    [
      "a tool that throws",
      [tool("a", () => Promise.reject(new Error("disk full")))],
      /^disk full$/,
    ],
    [
      "an unknown tool",
      [tool("ab", () => "1")],
      /^Tool "a" not found\. Did you mean ab\? Available: ab\.$/,
    ],
    [
      "invalid arguments",
      [
        tool("a", () => "1", {
          parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        }),
      ],
      /^Invalid arguments for tool "a":\n {2}- n: is required$/,
    ],
  ] as const) {
    // Requirements: P32, P38, X8, X9
    it(`of ${what}: an error result, and the run goes on`, async () => {
      const { agent, events } = rig([calls("a"), "Done."], [...tools]);
      await agent.prompt("Hi");
      assert.deepEqual(events.map(short), [
        "agent_start",
        "turn_start",
        ...user,
        ...asks(1),
        "tool_execution_start:a",
        "tool_execution_end:a error",
        ...result("a"),
        "turn_end",
        ...answer,
      ]);
      const message = agent.state.messages.find((candidate) => candidate.role === "toolResult");
      assert.ok(message?.role === "toolResult" && message.isError);
      assert.match(message.content[0]?.type === "text" ? message.content[0].text : "", said);
    });
  }

  it("of an abort during text: the partial answer ends, and then the run", async () => {
    const script = createScriptedModel(["A long answer."], { deltaLength: 2, delayMs: 1 });
    const agent = new Agent({ initialState: { model: script.model }, streamFn: script.streamFn });
    const events: string[] = [];
    agent.subscribe((event) => {
      events.push(short(event));
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        agent.abort();
    });
    const run = await agent.prompt("Hi");
    assert.deepEqual(events, [
      "agent_start",
      "turn_start",
      ...user,
      "message_start:assistant",
      "message_update:text_start",
      "message_update:text_delta",
      "message_update:text_end",
      "message_end:assistant",
      "turn_end",
      "agent_end:aborted",
    ]);
    assert.equal(run.reason, "aborted");
    assert.deepEqual(run.message?.content, [{ type: "text", text: "A " }]);
    assert.equal(run.message?.stopReason, "aborted");
  });

  // Requirements: P12
  it("of calls that are refused before they run: they end at once, before the others start", async () => {
    const { agent, events } = rig(
      [calls("a", "x", "b"), "Done."],
      [tool("a", () => "1"), tool("b", () => "2")],
    );
    await agent.prompt("Hi");
    const tools = events.map(short).filter((event) => event.startsWith("tool_"));
    assert.deepEqual(tools.slice(0, 4), [
      "tool_execution_start:a",
      "tool_execution_start:x",
      "tool_execution_end:x error",
      "tool_execution_start:b",
    ]);
  });

  it("of a request that is retried and of a model that is replaced: before the answer, whose stream waits for the listeners", async () => {
    const error = { code: "overloaded", message: "Busy.", retryable: true } as const;
    const from = { provider: "p", model: "m" };
    const { script } = rig(["Hello."]);
    const order: string[] = [];
    const { agent } = rig([], [], {
      streamFn: (...given) => ({
        async *[Symbol.asyncIterator]() {
          yield { type: "request_retry" as const, attempt: 2, delayMs: 5, error };
          order.push("goes on");
          yield { type: "model_failover" as const, attempt: 2, from, to: from, error };
          yield* script.streamFn(...given) as AsyncIterable<AssistantMessageEvent>;
        },
      }),
    });
    agent.subscribe(async (event) => {
      if (event.type === "request_retry") await new Promise((resolve) => setImmediate(resolve));
      order.push(short(event));
    });
    await agent.prompt("Hi");
    assert.deepEqual(order.slice(2), [
      ...user,
      "request_retry",
      "goes on",
      "model_failover",
      ...text,
      "turn_end",
      "agent_end:done",
    ]);
  });

  it("numbers every event from 0 without a gap, under one run id", async () => {
    const { agent, events } = rig(
      [calls("a", "b"), "Done."],
      [tool("a", () => "1"), tool("b", () => "2")],
    );
    const run = await agent.prompt("Hi");
    assert.deepEqual(
      events.map((event) => event.seq),
      events.map((_, index) => index),
    );
    assert.deepEqual(new Set(events.map((event) => event.runId)), new Set([run.runId]));
  });
});
