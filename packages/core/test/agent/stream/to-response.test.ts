/** `agent.stream().toResponse()`: what a page receives, and what happens when it disconnects. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deferred } from "../../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";
import {
  Agent,
  BowlineError,
  createAgentTool,
  requireApproval,
  toResponseEvent,
  type AgentEvent,
  type AgentOptions,
  type ResponseEvent,
} from "../../../src/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../../src/testing/index.ts";
import { tool } from "../../support.ts";

function agentOf(
  steps: Parameters<typeof createScriptedModel>[0],
  options: AgentOptions = {},
): Agent {
  const { model, streamFn } = createScriptedModel(steps, { deltaLength: 100 });
  return new Agent({ model, streamFn, ...options });
}

function framesOf(text: string): ResponseEvent[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => JSON.parse(frame.slice(6)) as ResponseEvent);
}

async function readFrames(response: Response): Promise<ResponseEvent[]> {
  return framesOf(await within("the end of the response", response.text()));
}

describe("toResponse()", () => {
  it("sends server-sent events with headers against caching and rewriting", async () => {
    const run = agentOf(["Hi."]).stream("Hello");
    const response = run.toResponse({ headers: { "x-run": "1" } });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
    assert.equal(response.headers.get("x-run"), "1");
    assert.deepEqual(await readFrames(response), [
      { type: "text_delta", contentIndex: 0, delta: "Hi." },
      { type: "message_end" },
      { type: "agent_end", reason: "done" },
    ]);
  });

  it("leaves out arguments, results, thinking and error messages", async () => {
    const secret = "sk-live-1234567890";
    const agent = agentOf(
      [
        {
          content: [
            { type: "thinking", thinking: secret },
            scriptedToolCall("look", { secret }, "c1"),
          ],
        },
        { error: new BowlineError("server_error", secret) },
      ],
      { tools: [tool("look", () => secret)] },
    );
    const text = await agent.stream("Hello").toResponse().text();
    assert.ok(!text.includes(secret));
    assert.deepEqual(framesOf(text), [
      { type: "message_end" },
      { type: "tool_execution_start", toolCallId: "c1", toolName: "look" },
      { type: "tool_execution_end", toolCallId: "c1", toolName: "look", outcome: "finished" },
      { type: "message_end" },
      { type: "agent_end", reason: "error", code: "server_error" },
    ]);
  });

  it("sends which text to discard, retries and failures without their messages", () => {
    const error = { code: "overloaded", message: "sk-live-1234567890", retryable: true } as const;
    const base = { runId: "r", seq: 1 };
    const retract = { type: "message_retract", attempt: 1, contentIndex: 2, error } as const;
    const sent = [
      { ...base, type: "message_update", assistantMessageEvent: retract },
      { ...base, type: "request_retry", attempt: 2, delayMs: 500, error },
      { ...base, type: "agent_end", messages: [], reason: "error", usage: {}, error },
      { ...base, parentRunId: "p", type: "request_retry", attempt: 2, delayMs: 500, error },
    ].map((event) => toResponseEvent(event as AgentEvent));
    assert.deepEqual(sent, [
      { type: "message_retract", contentIndex: 2 },
      { type: "request_retry", attempt: 2, delayMs: 500, code: "overloaded" },
      { type: "agent_end", reason: "error", code: "overloaded" },
      undefined,
    ]);
  });

  it("sends approval requests with the call to approve, also those of a nested run", async () => {
    const inner = createScriptedModel([
      { content: [scriptedToolCall("sail", { to: "Oban" }, "n1")] },
      "Sailed.",
    ]);
    const askMate = createAgentTool({
      name: "ask_mate",
      description: "Asks the mate",
      createAgent: () =>
        new Agent({
          model: inner.model,
          streamFn: inner.streamFn,
          tools: [tool("sail", () => "Done", { needsApproval: true })],
          beforeToolCall: requireApproval({ timeoutMs: 60_000 }),
        }),
    });
    const agent = agentOf(
      [{ content: [scriptedToolCall("ask_mate", { prompt: "Go" })] }, "Fine."],
      {
        tools: [askMate],
      },
    );
    agent.subscribe((event) => {
      if (event.type === "approval_request") agent.answer(event.approvalId, { decision: "allow" });
    });
    const frames = await readFrames(agent.stream("Hello").toResponse());
    const asked = frames.find((frame) => frame.type === "approval_request");
    assert.ok(asked && asked.toolName === "sail" && typeof asked.expiresAt === "number");
    assert.ok("args" in asked);
    const answered = frames.find((frame) => frame.type === "approval_answer");
    assert.deepEqual(answered, {
      type: "approval_answer",
      approvalId: asked.approvalId,
      decision: "allow",
    });
    assert.equal(frames.filter(({ type }) => type === "agent_end").length, 1);
  });

  it("sends what toData returns, and skips undefined", async () => {
    const run = agentOf(["Hi."]).stream("Hello");
    const toData = ({ type, seq }: { type: string; seq: number }) =>
      type.startsWith("agent_") ? { seq } : undefined;
    const { seq: last } = (await collectLast(run)) as { seq: number };
    assert.deepEqual(await readFrames(run.toResponse({ toData })), [{ seq: 0 }, { seq: last }]);
  });

  it("breaks the response off when toData throws", async () => {
    const run = agentOf(["Hi."]).stream("Hello");
    const response = run.toResponse({
      toData: () => {
        throw new Error("no data");
      },
    });
    await assert.rejects(response.text(), /no data/);
    assert.equal((await run.result()).reason, "done");
  });

  it("breaks the response off for a slow client, while the run goes on", async () => {
    const { model, streamFn } = createScriptedModel(["x".repeat(500)], { deltaLength: 1 });
    const run = new Agent({ model, streamFn }).stream("Hello", { maxHeldEvents: 10 });
    const response = run.toResponse();
    assert.equal((await within("the end of the run", run.result())).reason, "done");
    await assert.rejects(response.text(), { code: "reader_too_slow" });
  });

  it("sends a comment every 15 s to a waiting client, and leaves no timer", async () => {
    const clock = new ManualClock();
    const answer = deferred<string>();
    const agent = agentOf([() => answer.promise], { clock });
    const before = clock.pending;
    const reader = agent.stream("Hello").toResponse().body!.getReader();
    const chunks: string[] = [];
    const reading = (async () => {
      for (let next; !(next = await reader.read()).done;)
        chunks.push(new TextDecoder().decode(next.value));
    })();
    await settle();
    await clock.advance(14_999);
    assert.deepEqual(chunks, []);
    await clock.advance(1);
    await clock.advance(15_000);
    assert.deepEqual(chunks, [":\n\n", ":\n\n"]);
    answer.resolve("Hi.");
    await settle();
    await reading;
    assert.deepEqual(
      framesOf(chunks.join("")).map(({ type }) => type),
      ["text_delta", "message_end", "agent_end"],
    );
    assert.equal(clock.pending, before);
  });

  it("lets a client leave while the model is silent, and leaves no timer and aborts nothing", async () => {
    const clock = new ManualClock();
    const answer = deferred<string>();
    const agent = agentOf([() => answer.promise], { clock });
    const run = agent.stream("Hello");
    const reader = run.toResponse().body!.getReader();
    const reading = reader.read();
    await settle();
    const waiting = clock.pending;
    await within("the client has left", reader.cancel());
    await reading;
    await settle();
    assert.equal(clock.pending, waiting - 1);
    answer.resolve("Hi.");
    assert.equal((await run.result()).text, "Hi.");
  });
});

async function collectLast<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  let last: T | undefined;
  for await (const item of items) last = item;
  return last;
}
