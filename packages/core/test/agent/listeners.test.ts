/**
 * Listeners of any speed receive every event once, in order, and what is stored equals what they
 * received.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createAgentTool,
  type AgentEvent,
  type AgentOptions,
} from "../../src/agent/index.ts";
import { reduceEvents } from "../../src/llm/event.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import { EventStream } from "../../src/llm/stream.ts";
import { MessageWriter } from "../../src/llm/writer.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { rig, tool } from "../support.ts";

const never = (): Promise<never> => new Promise(() => {});
const wait = (clock: ManualClock, ms: number): Promise<void> =>
  new Promise((resolve) => clock.setTimer(ms, resolve));
const origin = { api: "scripted", provider: "scripted", model: "scripted", timestamp: 1 };
const settings: AgentOptions = { abortGraceMs: 250, hookTimeoutMs: 1000 };

/** Emits a text and half a call at once, and ignores its signal. */
const talksOn: StreamFn = () =>
  new EventStream(async (push) => {
    const writer = new MessageWriter(origin);
    const text = writer.openText();
    for (let piece = 0; piece < 10; piece++) {
      writer.append(text, `piece ${piece} `);
      push(writer.take());
    }
    writer.close(text);
    writer.append(writer.openToolCall("call_1", "write"), '{"path":');
    push(writer.take());
    return never();
  });

/** The content that the events add up to. */
function told(events: readonly AgentEvent[]): unknown {
  const updates = events.flatMap((event) =>
    event.type === "message_update" ? [event.assistantMessageEvent] : [],
  );
  return reduceEvents([{ type: "start", attempt: 1, ...origin }, ...updates])?.content;
}

const numbers = (events: readonly AgentEvent[]): number[] => events.map(({ seq }) => seq);
const inOrder = (events: readonly AgentEvent[]): number[] => events.map((_, index) => index);

describe("an answer that is given up is stored as it was emitted", () => {
  const listeners = {
    "is slow": (clock: ManualClock) => wait(clock, 100),
    "never answers": never,
  };
  const isDue = {
    "an update": (event: AgentEvent): boolean => event.type === "message_update",
    "the start": (event: AgentEvent): boolean =>
      event.type === "message_start" && event.message.role === "assistant",
  };
  const ends: Record<string, { options: AgentOptions; aborts?: boolean; reason: string }> = {
    "an abort": { options: settings, aborts: true, reason: "aborted" },
    "an abort without a grace": {
      options: { ...settings, abortGraceMs: 0 },
      aborts: true,
      reason: "aborted",
    },
    "a limit on time": { options: { ...settings, budget: { maxTimeMs: 150 } }, reason: "budget" },
    "a listener's own limit": { options: { ...settings, hookTimeoutMs: 50 }, reason: "error" },
  };
  for (const [slowness, listen] of Object.entries(listeners))
    for (const [what, due] of Object.entries(isDue))
      for (const [why, { options, aborts = false, reason }] of Object.entries(ends))
        it(`after ${why}, when a listener ${slowness} at ${what}`, async () => {
          const clock = new ManualClock();
          const { agent, events } = rig([], [], { streamFn: talksOn, clock, ...options });
          agent.subscribe((event) => (due(event) ? listen(clock) : undefined));
          const run = agent.prompt("Hi");
          await clock.advance(90);
          if (aborts) agent.abort();
          await clock.advance(5000);
          const { message, ...result } = await run;
          assert.equal(result.reason, reason);
          assert.deepEqual(message?.content, told(events));
          assert.match(JSON.stringify(message?.content), /piece 9 .*path/);
          assert.deepEqual(numbers(events), inOrder(events));
          assert.equal(clock.pending, 0);
        });
});

describe("a listener that exceeds its time limit", () => {
  for (const type of ["message_start", "message_update", "turn_end"] as const)
    for (const aborts of [false, true])
      it(`(${type}, ${aborts ? "after an abort" : "at its limit"}) does not delay others: they get each event, in order`, async () => {
        const clock = new ManualClock();
        const { agent } = rig(["Hello."], [], { clock, ...settings });
        const heard: AgentEvent[] = [];
        agent.subscribe((event) => (event.type === type ? never() : undefined));
        agent.subscribe((event) => void heard.push(event));
        const run = agent.prompt("Hi");
        await clock.advance(10);
        if (aborts) agent.abort();
        await clock.advance(5000);
        assert.equal((await run).reason, aborts ? "aborted" : "error");
        assert.deepEqual(numbers(heard), inOrder(heard));
        assert.equal(heard.at(-1)?.type, "agent_end");
      });

  it("has its own limit: slow listeners do not add up to a failure", async () => {
    const clock = new ManualClock();
    const { agent } = rig(["Hello."], [], { clock, ...settings });
    for (let count = 0; count < 3; count++)
      agent.subscribe(({ type }) => (type === "turn_end" ? wait(clock, 900) : undefined));
    const run = agent.prompt("Hi");
    await clock.advance(5000);
    assert.equal((await run).reason, "done");
  });

  it("is given up after an abort, while the other listeners are awaited", async () => {
    const clock = new ManualClock();
    const { agent } = rig([{ content: [scriptedToolCall("a", {})] }], [tool("a", () => never())], {
      clock,
      ...settings,
    });
    const kept: string[] = [];
    agent.subscribe(({ type }) => (type === "tool_execution_start" ? never() : undefined));
    agent.subscribe(async ({ type }) => {
      await wait(clock, 5);
      kept.push(type);
    });
    const last = agent.prompt("Hi").then(() => kept.at(-1));
    await clock.advance(100);
    agent.abort();
    await clock.advance(5000);
    assert.equal(await last, "agent_end");
  });

  it("(of a nested run) does not hold events back from the caller's listeners", async () => {
    const clock = new ManualClock();
    const inner = createScriptedModel(["Found."]);
    const createAgent = (): Agent => {
      const agent = new Agent({
        initialState: { model: inner.model },
        streamFn: inner.streamFn,
        clock,
        hookTimeoutMs: 100,
      });
      agent.subscribe(({ type }) =>
        type === "turn_start" || type === "message_end" ? never() : undefined,
      );
      return agent;
    };
    const research = createAgentTool({ name: "research", description: "Looks.", createAgent });
    const asks = { content: [scriptedToolCall("research", { prompt: "Look" })] };
    const { agent, events } = rig([asks, "Done."], [research], { clock, ...settings });
    const run = agent.prompt("Hi");
    await clock.advance(10_000);
    const { runId, reason } = await run;
    const nested = events.filter((event) => event.runId !== runId);
    assert.equal(reason, "done");
    assert.deepEqual(numbers(nested), inOrder(nested));
    assert.equal(nested.at(-1)?.type, "agent_end");
  });
});

it("an abort does not wait for listeners of updates, but waits for those of an end event", async () => {
  const clock = new ManualClock();
  const { agent } = rig([], [], { streamFn: talksOn, clock, ...settings });
  const begun: string[] = [];
  const ended = deferred();
  agent.subscribe(({ type }) => {
    begun.push(type);
    if (type === "message_update") return wait(clock, 100);
    return type === "turn_end" ? ended.promise : undefined;
  });
  const run = agent.prompt("Hi");
  await clock.advance(150);
  assert.equal(begun.filter((type) => type === "message_update").length, 2);
  agent.abort();
  await clock.advance(300);
  assert.equal(begun.filter((type) => type === "message_update").length, 14);
  assert.equal(begun.at(-1), "turn_end");
  ended.resolve();
  assert.equal((await run).reason, "aborted");
});
