import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import {
  createMemoryEffects,
  requireApproval,
  type AgentEvent,
  type ApprovalOptions,
} from "../../src/agent/index.ts";
import { call, rig, short, tool } from "../support.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import type { Rig } from "../support.ts";

type Request = Extract<AgentEvent, { type: "approval_request" }>;

const setUp = (
  options: ApprovalOptions = {},
  clock = new ManualClock(),
): Rig & { clock: ManualClock } => ({
  clock,
  ...rig([call("a"), "Done."], [tool("a", () => "ran")], {
    beforeToolCall: requireApproval(options),
    clock,
  }),
});
const requestIn = (events: readonly AgentEvent[]): Request =>
  events.find((event): event is Request => event.type === "approval_request") as Request;

describe("requireApproval", () => {
  it("asks with the exact arguments, waits, and runs the call when it is allowed", async () => {
    const { agent, events, clock } = setUp();
    const run = agent.prompt("Hi");
    await settle();
    const request = requestIn(events);
    assert.deepEqual(
      [request.toolName, request.toolCallId, request.args, request.expiresAt],
      ["a", "a", {}, clock.now() + 30 * 60_000],
    );
    assert.ok(agent.answer(request.approvalId, { decision: "allow", by: "Ann" }));
    assert.equal(texts((await run).messages)[2], "toolResult: ran");
    const kinds = events.map(short);
    const start = kinds.indexOf("tool_execution_start:a");
    assert.deepEqual(kinds.slice(start, start + 4), [
      "tool_execution_start:a",
      "approval_request",
      "approval_answer:allow",
      "tool_execution_end:a",
    ]);
    assert.equal(clock.pending, 0);
  });

  it("accepts one answer per question, and none for an unknown approval id", async () => {
    const { agent, events } = setUp();
    assert.equal(agent.answer("nothing", { decision: "allow" }), false);
    const run = agent.prompt("Hi");
    await settle();
    const { approvalId } = requestIn(events);
    assert.equal(agent.answer(approvalId, { decision: "deny", reason: "not today" }), true);
    assert.equal(agent.answer(approvalId, { decision: "allow" }), false);
    const { messages, tools } = await run;
    assert.equal(texts(messages)[2], "toolResult: Denied: not today.");
    assert.equal(tools[0]?.outcome, "not_started");
  });

  it("can be answered by the listener that receives the request", async () => {
    const { agent } = setUp();
    agent.subscribe((event) => {
      if (event.type === "approval_request") agent.answer(event.approvalId, { decision: "allow" });
    });
    assert.equal(texts((await agent.prompt("Hi")).messages)[2], "toolResult: ran");
  });

  it("without a time limit waits for ever, and says no end", async () => {
    const clock = new ManualClock();
    const { agent, events } = rig([call("a"), "Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval({ timeoutMs: 0 }),
      clock,
    });
    const run = agent.prompt("Hi");
    await settle();
    await clock.advance(30 * 24 * 3_600_000);
    const request = requestIn(events);
    assert.equal("expiresAt" in request, false);
    agent.answer(request.approvalId, { decision: "allow" });
    assert.equal(texts((await within("the run ends", run)).messages)[2], "toolResult: ran");
  });

  it("removes its abort listener once it is answered", async () => {
    const memory = createMemoryEffects();
    let waited: AbortSignal | undefined;
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval({ timeoutMs: 0 }),
      effects: {
        waitFor: (name, options) => {
          waited = options?.signal;
          return memory.waitFor(name, options);
        },
      },
    });
    agent.subscribe((event) => {
      if (event.type === "approval_request") memory.answer(event.approvalId, { decision: "allow" });
    });
    assert.equal(texts((await agent.prompt("Hi")).messages)[2], "toolResult: ran");
    assert.equal(getEventListeners(waited as AbortSignal, "abort").length, 0);
  });

  it("treats anything but a clear allow as a denial", async () => {
    for (const answer of [undefined, true, "allow", { decision: "yes" }, {}]) {
      const { agent, events } = setUp();
      const run = agent.prompt("Hi");
      await settle();
      agent.answer(requestIn(events).approvalId, answer);
      assert.match(texts((await run).messages)[2] ?? "", /Denied/);
    }
  });

  it("denies after the timeout, and says so", async () => {
    const { agent, events, clock } = setUp({ timeoutMs: 5000 });
    const run = agent.prompt("Hi");
    await clock.advance(5000);
    assert.equal(
      texts((await run).messages)[2],
      "toolResult: Denied: there was no answer in time.",
    );
    assert.ok(events.map(short).includes("approval_answer:expired"));
    assert.equal(agent.answer(requestIn(events).approvalId, { decision: "allow" }), false);
  });

  it("expires on an abort, and the call does not run", async () => {
    const { agent, events, clock } = setUp();
    const run = agent.prompt("Hi");
    await settle();
    agent.abort();
    const { reason, tools } = await run;
    assert.deepEqual([reason, tools[0]?.outcome], ["aborted", "not_started"]);
    assert.ok(events.map(short).includes("approval_answer:expired"));
    assert.equal(clock.pending, 0);
  });

  it("asks only about calls that need it, with the reason given", async () => {
    const free = setUp({ needed: ({ toolCall }) => toolCall.name !== "a" });
    assert.equal(texts((await free.agent.prompt("Hi")).messages)[2], "toolResult: ran");
    const { agent, events } = setUp({ needed: async () => "it writes" });
    const run = agent.prompt("Hi");
    await settle();
    const { approvalId, reason } = requestIn(events);
    assert.equal(reason, "it writes");
    agent.answer(approvalId, { decision: "allow" });
    await run;
  });
});
