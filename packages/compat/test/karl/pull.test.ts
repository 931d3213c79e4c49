/** The reader pulls karl's loop: nothing starts before the reader requests the next event. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import {
  agentLoop,
  runTask,
  type AgentEvent,
  type AgentLoopConfig,
  type KarlTool,
  type ToolDefinition,
} from "../../src/karl/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "@bowline/core/testing";
import { code } from "../../../../test/support/error-code.ts";
import { chatText, loopback, streamed } from "../../../../test/support/loopback.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";

const asks: ScriptedStep = {
  content: [scriptedToolCall("a", {}, "c1"), scriptedToolCall("a", {}, "c2")],
};

interface Rig {
  readonly events: ReturnType<typeof agentLoop>;
  readonly model: ScriptedModel;
  readonly clock: ManualClock;
  /** The calls of the tool so far. */
  readonly ran: string[];
}

function rig(script: readonly ScriptedStep[], options: Partial<AgentLoopConfig> = {}): Rig {
  const model = createScriptedModel(script);
  const clock = new ManualClock();
  const ran: string[] = [];
  const tool: ToolDefinition = {
    name: "a",
    description: "Runs.",
    parameters: { type: "object", properties: {} },
    async execute(_params, id) {
      ran.push(id);
      return { content: [{ type: "text", text: "ran" }] };
    },
  };
  const base = { model: "m", baseUrl: "", apiKey: "", apiFormat: "openai", clock } as const;
  const config = { ...base, streamFn: model.streamFn, ...options };
  return { events: agentLoop("", "Go", [tool], config), model, clock, ran };
}

/** Reads up to an event of this type, then runs everything that does not wait for the reader. */
async function readTo(events: Rig["events"], type: AgentEvent["type"]): Promise<void> {
  for (;;) {
    const { value, done } = await events.next();
    assert.ok(done !== true, `no ${type}`);
    if (value.type === type) break;
  }
  await settle();
}

describe("karl's loop", () => {
  // Requirements: K17, K20, X23
  it("sends no request until its reader asks for the event after stream_start", async () => {
    const { events, model } = rig([asks, "Done."]);
    await settle();
    assert.equal(model.calls.length, 0);
    await readTo(events, "stream_start");
    assert.equal(model.calls.length, 0);
    await events.next();
    assert.equal(model.calls.length, 1);
    await readTo(events, "stream_start");
    assert.equal(model.calls.length, 1);
    await events.next();
    assert.equal(model.calls.length, 2);
    await events.return(undefined as never);
  });

  // Requirements: K30, X23
  it("runs no tool until its reader asks for the event after tool_execution_start", async () => {
    const { events, ran } = rig([asks, "Done."]);
    await readTo(events, "message_end");
    assert.deepEqual(ran, []);
    await readTo(events, "tool_execution_start");
    assert.deepEqual(ran, []);
    await readTo(events, "tool_execution_end");
    assert.deepEqual(ran, ["c1"]);
    await readTo(events, "tool_execution_start");
    assert.deepEqual(ran, ["c1"]);
    await readTo(events, "tool_execution_end");
    assert.deepEqual(ran, ["c1", "c2"]);
    await events.return(undefined as never);
  });

  for (const type of ["tool_call_start", "message_end", "tool_execution_start"] as const) {
    // Requirements: K18, X23
    it(`runs no tool for a reader that leaves at ${type}`, async () => {
      const { signal } = new AbortController();
      const { events, model, clock, ran } = rig([asks, "Never"], { signal });
      for await (const event of events) if (event.type === type) break;
      await clock.advance(10_000);
      assert.deepEqual([ran, model.calls.length], [[], 1]);
      assert.deepEqual([clock.pending, getEventListeners(signal, "abort").length], [0, 0]);
    });

    // Requirements: K37, X23
    it(`runs no tool after an abort at ${type}`, async () => {
      const abort = new AbortController();
      const { events, model, ran } = rig([asks, "Never"], { signal: abort.signal });
      const read = async (): Promise<void> => {
        for await (const event of events) if (event.type === type) abort.abort();
      };
      await assert.rejects(read(), code("aborted"));
      assert.deepEqual([ran, model.calls.length], [[], 1]);
    });
  }

  // Requirements: X23
  it("waits any time for a slow reader", async () => {
    const { events, clock, ran } = rig([asks, "Done."]);
    await readTo(events, "tool_execution_start");
    await clock.advance(3_600_000);
    await readTo(events, "turn_end");
    assert.deepEqual(ran, ["c1", "c2"]);
    assert.equal((await events.next()).done, true);
  });

  // Requirements: X23
  it("ends with the abort for a reader that was not reading when it came", async () => {
    const abort = new AbortController();
    const { events, clock, model, ran } = rig([asks, "Never"], { signal: abort.signal });
    await readTo(events, "tool_execution_start");
    abort.abort();
    await clock.advance(3_600_000);
    await readTo(events, "error");
    await assert.rejects(events.next(), code("aborted"));
    assert.deepEqual([ran, model.calls.length], [[], 1]);
  });

  // Requirements: K20, X23
  it("sends no second request before its reader asks for it", async () => {
    const call = { index: 0, id: "c1", function: { name: "a", arguments: "{}" } };
    await using server = await loopback(
      streamed({ choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] }),
      chatText("Done."),
    );
    const config = { model: "m", baseUrl: server.baseUrl, apiKey: "k" };
    const events = agentLoop("", "Go", [], { ...config, apiFormat: "openai" });
    await readTo(events, "message_end");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(server.requests.length, 1);
    await readTo(events, "turn_end");
    assert.equal(server.requests.length, 2);
  });
});

describe("karl's runner", () => {
  // Requirements: K6, X23
  it("reports tool_start before a tool runs, and tool_end after it", async () => {
    const told: string[] = [];
    const tool: KarlTool = {
      name: "a",
      description: "Runs.",
      parameters: { type: "object", properties: {} },
      async execute(id) {
        told.push(`${id} runs`);
        return { content: [] };
      },
    };
    const { streamFn } = createScriptedModel([asks, "Done."]);
    await runTask({
      task: "Go",
      model: "m",
      baseUrl: "",
      apiKey: "",
      providerType: "openai",
      tools: [tool],
      streamFn,
      onEvent: ({ type }) => {
        if (type.startsWith("tool")) told.push(type);
      },
    });
    const around = (id: string): string[] => ["tool_start", `${id} runs`, "tool_end"];
    assert.deepEqual(told, [...around("c1"), ...around("c2")]);
  });
});
