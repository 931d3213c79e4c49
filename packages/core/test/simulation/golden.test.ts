/**
 * Whole runs on a simulated clock, to the millisecond: queues, endings and aborts. A change here is
 * a change of the contract. event-order.test.ts has the order of simpler runs.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  agentLoop,
  textResult,
  type AgentOptions,
  type AgentTool,
} from "../../src/agent/index.ts";
import type { AgentEvent, AgentMessage, RunResult } from "../../src/agent/index.ts";
import { messageText } from "../../src/llm/message.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
} from "../../src/testing/index.ts";
import type { ScriptedAnswer } from "../../src/testing/index.ts";
import { short, tool } from "../support.ts";
import { Random } from "./random.ts";
import { drained, Timeline } from "./timeline.ts";

interface Stage {
  readonly agent: Agent;
  readonly timeline: Timeline;
  readonly script: ScriptedModel;
  readonly trace: string[];
  /** Advances the time until the run has settled. */
  readonly play: (run: Promise<RunResult>) => Promise<RunResult>;
}

type Steps = readonly ScriptedAnswer[];

/**
 * An agent on a timeline, on which `tools` may wait. Its trace leaves out what every answer has.
 */
function stage(
  steps: Steps,
  tools: (timeline: Timeline) => AgentTool[] = () => [],
  options: AgentOptions = {},
): Stage {
  const timeline = new Timeline(new Random(1));
  const script = createScriptedModel(steps, { deltaLength: 1000 });
  const agent = new Agent({
    initialState: { model: script.model, tools: tools(timeline) },
    streamFn: script.streamFn,
    clock: timeline.clock(),
    ...options,
  });
  const trace: string[] = [];
  agent.subscribe((event) => void trace.push(...line(timeline, event)));
  return { agent, timeline, script, trace, play: (run) => settle(timeline, run) };
}

async function settle<T>(timeline: Timeline, run: Promise<T>): Promise<T> {
  let isOver = false;
  void run.finally(() => (isOver = true));
  for (;;) {
    await drained();
    if (isOver) return run;
    assert.ok(timeline.step(), "the run has not settled, and nothing will happen any more");
  }
}

function line(timeline: Timeline, event: AgentEvent): string[] {
  if (event.type === "message_update" || event.type === "message_end") return [];
  const text =
    event.type === "message_start" && event.message.role === "user"
      ? ` "${messageText(event.message)}"`
      : "";
  return [`${timeline.elapsed} ${short(event)}${text}`];
}

const calls = (...ids: string[]): ScriptedAnswer => ({
  content: ids.map((id) => scriptedToolCall(id, {}, id)),
});
const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });

/** A slow tool that ignores aborts. */
const slow = (timeline: Timeline, name: string, ms: number): AgentTool =>
  tool(name, () => timeline.sleep(ms).then(() => name));

describe("a run on a simulated clock", () => {
  it("of parallel tools emits progress and ends as they happen, and results in the order of the calls", async () => {
    const { agent, trace, play } = stage([calls("a", "b", "c"), "Done."], (timeline) => [
      slow(timeline, "a", 30),
      {
        ...tool("b", () => ""),
        execute: async (_id, _args, _signal, onUpdate) => {
          await timeline.sleep(15);
          onUpdate?.(textResult("half"));
          await timeline.sleep(5);
          return textResult("b");
        },
      },
      slow(timeline, "c", 10),
    ]);
    await play(agent.prompt("Hi"));
    assert.deepEqual(trace.slice(4), [
      "0 tool_execution_start:a",
      "0 tool_execution_start:b",
      "0 tool_execution_start:c",
      "10 tool_execution_end:c",
      "15 tool_execution_update:b",
      "20 tool_execution_end:b",
      "30 tool_execution_end:a",
      "30 message_start:result a",
      "30 message_start:result b",
      "30 message_start:result c",
      "30 turn_end",
      "30 turn_start",
      "30 message_start:assistant",
      "30 turn_end",
      "30 agent_end:done",
    ]);
  });

  it("of two tools at a time starts the third when the first has ended", async () => {
    const started: string[] = [];
    const { agent, trace, play } = stage(
      [calls("a", "b", "c"), "Done."],
      (timeline) =>
        ["a", "b", "c"].map((name, index) =>
          tool(name, () => {
            started.push(`${timeline.elapsed} ${name}`);
            return timeline.sleep(10 + index * 10).then(() => name);
          }),
        ),
      { maxParallelTools: 2 },
    );
    await play(agent.prompt("Hi"));
    assert.deepEqual(started, ["0 a", "0 b", "10 c"]);
    assert.deepEqual(trace.slice(7, 11), [
      "10 tool_execution_end:a",
      "20 tool_execution_end:b",
      "40 tool_execution_end:c",
      "40 message_start:result a",
    ]);
  });

  it("with an abort during a tool that ignores its signal for 3 s settles after the grace period of 200 ms, and says so", async () => {
    const { agent, timeline, script, trace, play } = stage(
      [calls("slow")],
      (time) => [slow(time, "slow", 3000)],
      {
        abortGraceMs: 200,
      },
    );
    timeline.after(50, () => agent.abort());
    const run = await play(agent.prompt("Hi"));
    assert.equal(timeline.elapsed, 250);
    assert.deepEqual([run.reason, run.error?.code], ["aborted", "aborted"]);
    assert.deepEqual(run.tools, [
      { toolCallId: "slow", toolName: "slow", outcome: "left_running" },
    ]);
    assert.deepEqual(trace.slice(4), [
      "0 tool_execution_start:slow",
      "250 tool_execution_end:slow error",
      "250 message_start:result slow",
      "250 turn_end",
      "250 agent_end:aborted",
    ]);
    const result = agent.state.messages.at(-1);
    assert.equal(result?.role, "toolResult");
    assert.match(messageText(result), /^The run was aborted\. The tool was left running/);
    // The tool's late result, after another 2,750 ms, changes nothing.
    const before = JSON.stringify(agent.state.messages);
    while (timeline.step()) await drained();
    assert.equal(timeline.elapsed, 3000);
    assert.equal(JSON.stringify(agent.state.messages), before);
    assert.equal(trace.length, 9);
    assert.equal(script.calls.length, 1);
  });

  it("with an abort that the tool obeys settles at once, and does not start the next call", async () => {
    const { agent, timeline, trace, play } = stage(
      [calls("a", "b")],
      (time) => [
        tool("a", async (signal) => {
          await time.sleep(3000, signal);
          throw new Error("stopped");
        }),
        tool("b", () => "never"),
      ],
      { toolExecution: "sequential" },
    );
    timeline.after(50, () => agent.abort());
    const run = await play(agent.prompt("Hi"));
    assert.deepEqual(trace.slice(4), [
      "0 tool_execution_start:a",
      "50 tool_execution_end:a error",
      "50 message_start:result a",
      "50 message_start:result b",
      "50 turn_end",
      "50 agent_end:aborted",
    ]);
    assert.deepEqual(
      run.tools.map(({ outcome }) => outcome),
      ["stopped", "not_started"],
    );
  });
});

/** The trace after the tool `a`, which takes 10 ms, while two messages of each kind are queued. */
async function queued(options: AgentOptions): Promise<string[]> {
  const { agent, timeline, trace, play } = stage(
    [calls("a"), "One.", "Two.", "Three.", "Four."],
    (time) => [slow(time, "a", 10)],
    options,
  );
  timeline.after(5, () => {
    for (const text of ["f1", "f2"]) agent.followUp(user(text));
    for (const text of ["s1", "s2"]) agent.steer(user(text));
  });
  await play(agent.prompt("Hi"));
  assert.equal(agent.hasQueuedMessages(), false);
  return trace
    .slice(trace.indexOf("10 turn_end") + 1)
    .filter((entry) => !entry.endsWith("message_start:assistant"));
}

const turn = (...messages: string[]): string[] => [
  "10 turn_start",
  ...messages.map((text) => `10 message_start:user "${text}"`),
  "10 turn_end",
];

describe("messages queued while a tool runs", () => {
  for (const [steeringMode, followUpMode, turns] of [
    [undefined, undefined, [turn("s1"), turn("s2"), turn("f1"), turn("f2")]],
    ["all", undefined, [turn("s1", "s2"), turn("f1"), turn("f2")]],
    [undefined, "all", [turn("s1"), turn("s2"), turn("f1", "f2")]],
    ["all", "all", [turn("s1", "s2"), turn("f1", "f2")]],
  ] as const) {
    const how = `steering ${steeringMode ?? "one by one"}, follow-ups ${followUpMode ?? "one by one"}`;
    it(`come ${how}: steering before the next model call, follow-ups when the run would end`, async () => {
      const modes = {
        ...(steeringMode && { steeringMode }),
        ...(followUpMode && { followUpMode }),
      };
      assert.deepEqual(await queued(modes), [...turns.flat(), "10 agent_end:done"]);
    });
  }

  it("prevent pending calls from running with skipToolsOnSteering", async () => {
    const { agent, timeline, trace, play } = stage(
      [calls("a", "b"), "Done."],
      (time) => [slow(time, "a", 10), slow(time, "b", 10)],
      { toolExecution: "sequential", skipToolsOnSteering: true },
    );
    timeline.after(5, () => agent.steer(user("Stop that.")));
    const run = await play(agent.prompt("Hi"));
    assert.deepEqual(trace.slice(4, 11), [
      "0 tool_execution_start:a",
      "10 tool_execution_end:a",
      "10 message_start:result a",
      "10 message_start:result b",
      "10 turn_end",
      "10 turn_start",
      '10 message_start:user "Stop that."',
    ]);
    assert.deepEqual(
      run.tools.map(({ outcome }) => outcome),
      ["finished", "not_started"],
    );
  });
});

describe("a run that is ended", () => {
  const last = (timeline: Timeline, name: string, ms: number): AgentTool => ({
    ...tool(name, () => ""),
    execute: () => timeline.sleep(ms).then(() => ({ ...textResult(name), terminate: true })),
  });

  it("by every tool of the batch sends no further request, except for queued messages", async () => {
    const { agent, script, trace, play } = stage([calls("a", "b"), "Once more."], (timeline) => [
      last(timeline, "a", 20),
      last(timeline, "b", 10),
    ]);
    agent.followUp(user("One more thing."));
    await play(agent.prompt("Hi"));
    assert.deepEqual(trace.slice(4), [
      "0 tool_execution_start:a",
      "0 tool_execution_start:b",
      "10 tool_execution_end:b",
      "20 tool_execution_end:a",
      "20 message_start:result a",
      "20 message_start:result b",
      "20 turn_end",
      "20 turn_start",
      '20 message_start:user "One more thing."',
      "20 message_start:assistant",
      "20 turn_end",
      "20 agent_end:done",
    ]);
    assert.equal(script.calls.length, 2);
  });

  it("by one of two tools goes on, whichever it is", async () => {
    for (const ids of [
      ["a", "b"],
      ["b", "a"],
    ]) {
      const { agent, script, trace, play } = stage([calls(...ids), "Done."], (timeline) => [
        last(timeline, "a", 10),
        slow(timeline, "b", 10),
      ]);
      await play(agent.prompt("Hi"));
      assert.equal(trace.at(-1), "10 agent_end:done");
      assert.equal(script.calls.length, 2);
    }
  });

  it("by shouldStopAfterTurn ends after the turn's results, and keeps the queues", async () => {
    const { agent, script, trace, play } = stage(
      [calls("a"), "never"],
      (timeline) => [slow(timeline, "a", 10)],
      {
        shouldStopAfterTurn: ({ toolResults }) => toolResults.length > 0,
      },
    );
    agent.followUp(user("Later."));
    await play(agent.prompt("Hi"));
    assert.deepEqual(trace.slice(4), [
      "0 tool_execution_start:a",
      "10 tool_execution_end:a",
      "10 message_start:result a",
      "10 turn_end",
      "10 agent_end:done",
    ]);
    assert.equal(script.calls.length, 1);
    assert.equal(agent.hasQueuedMessages(), true);
  });
});

describe("agentLoop", () => {
  it("emits the same events as an agent", async () => {
    const steps = [calls("a", "b"), "Done."];
    const tools = (timeline: Timeline): AgentTool[] => [
      slow(timeline, "a", 20),
      slow(timeline, "b", 10),
    ];
    const { agent, trace, play } = stage(steps, tools);
    await play(agent.prompt("Hi"));

    const timeline = new Timeline(new Random(1));
    const { model, streamFn } = createScriptedModel(steps, { deltaLength: 1000 });
    const context = { systemPrompt: "", messages: [], tools: tools(timeline) };
    const convertToLlm = (messages: AgentMessage[]): AgentMessage[] => messages;
    const config = { model, convertToLlm, clock: timeline.clock() };
    const stream = agentLoop([user("Hi")], context, config, undefined, streamFn);
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of stream) seen.push(...line(timeline, event));
    };
    await settle(timeline, read());
    assert.deepEqual(seen, trace);
  });
});
