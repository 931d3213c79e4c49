import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFailover, defineTool, BowlineError } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { loadRules } from "../../src/policy/rules.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, wait } from "./gateway.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const look = defineTool({
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const,
  async execute({ at }, run) {
    run.update("looking");
    return `saw ${at}`;
  },
});
const allowed = await loadRules([{ action: "allow", tool: "look" }]);

describe("a run over the socket", () => {
  // Requirements: J1, J32, J33, J37, J38
  it("answers with the run id, then deltas, then one final, also for an instant model", async () => {
    const usage = { input: 7, output: 5 };
    await using server = await gatewayWith([
      { content: [{ type: "text", text: "Four, of course." }], usage },
    ]);
    const client = await server.client({ events: ["chat.delta", "chat.final"] });
    const { runId, status } = await client.call("chat.send", {
      sessionKey: "any text ✓",
      message: "What is 2+2?",
    });
    assert.match(runId, uuid);
    assert.equal(status, "started");
    const final = await client.event("chat.final", runId);
    assert.deepEqual(final.usage, { inputTokens: 7, outputTokens: 5 });
    assert.equal(client.text(runId), "Four, of course.");
    const [response, ...rest] = client.frames;
    assert.equal((response?.result as { runId?: string } | undefined)?.runId, runId);
    const names = rest.map(({ event }) => event);
    assert.equal(names.pop(), "chat.final");
    assert.deepEqual(new Set(names), new Set(["chat.delta"]));
  });

  it("counts the whole prompt as input, cached or not", async () => {
    const usage = { input: 3, output: 5, cacheRead: 5000, cacheWrite: 100 };
    await using server = await gatewayWith([{ content: [{ type: "text", text: "Four." }], usage }]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "What is 2+2?" });
    const told = {
      inputTokens: 5103,
      outputTokens: 5,
      cacheReadTokens: 5000,
      cacheWriteTokens: 100,
    };
    assert.deepEqual((await client.event("chat.final", runId)).usage, told);
    assert.deepEqual((await client.event("chat.turn", runId)).usage, told);
  });

  it("counts failed attempts in the turn and in the total", async () => {
    const script = createScriptedModel([
      { usage: { input: 10, output: 1 }, error: new BowlineError("overloaded", "No.") },
      { content: [{ type: "text", text: "Four." }], usage: { input: 20, output: 2 } },
    ]);
    const { model } = script;
    const streamFn = createFailover({ streamFn: script.streamFn, models: [model] });
    const backendFor = () => ({ model, streamFn, isPractice: false });
    await using server = await gatewayWith([], { backendFor });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "What is 2+2?" });
    const told = { inputTokens: 30, outputTokens: 3 };
    const [final, turn] = [
      await client.event("chat.final", runId),
      await client.event("chat.turn", runId),
    ];
    assert.partialDeepStrictEqual([final.usage, turn.usage], [told, told]);
  });

  // Requirements: X12
  it("numbers its events without gaps and ends once, with the usage of all model calls", async () => {
    const script = [
      { content: [scriptedToolCall("look", { at: "the sea" })], usage: { input: 10, output: 1 } },
      { content: [{ type: "text" as const, text: "Water." }], usage: { input: 20, output: 2 } },
    ];
    await using server = await gatewayWith(script, { tools: () => [look], rules: allowed });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Look." });
    assert.deepEqual((await client.event("chat.final", runId)).usage, {
      inputTokens: 30,
      outputTokens: 3,
    });
    const own = client.ofRun(runId).filter(({ event }) => event !== undefined);
    assert.deepEqual(
      own.map(({ data }) => data?.seq),
      own.map((_, index) => index),
    );
    const names = own.map(({ event }) => event).filter((event) => event !== "chat.delta");
    assert.deepEqual(names, [
      "chat.user",
      "chat.turn",
      "chat.tool_call",
      "tool.progress",
      "chat.tool_result",
      "chat.turn",
      "chat.final",
    ]);
    const result = await client.event("chat.tool_result", runId);
    assert.deepEqual([result.output, result.isError], ["saw the sea", false]);
  });

  it("reports its error with a kind and whether it can be retried", async () => {
    const error = new BowlineError("rate_limited", "Slow down.", {
      status: 429,
      retryable: true,
      retryAfterMs: 1500,
    });
    await using server = await gatewayWith([{ error }]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    const { message, errorKind, error: info } = await client.event("chat.error", runId);
    assert.deepEqual([message, errorKind, info.retryAfterMs], ["Slow down.", "rate_limit", 1500]);
    assert.equal(
      client.ofRun(runId).filter(({ event = "" }) => /final|error|aborted/.test(event)).length,
      1,
    );
  });

  // Requirements: X27
  it("separates thinking from the answer", async () => {
    const content = [
      { type: "thinking" as const, thinking: "Let me see." },
      { type: "text" as const, text: "Yes." },
    ];
    await using server = await gatewayWith([{ content }]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await client.event("chat.final", runId);
    const thought = client.ofRun(runId).filter(({ event }) => event === "chat.thinking");
    assert.equal(thought.map(({ data }) => data?.text).join(""), "Let me see.");
    assert.equal(client.text(runId), "Yes.");
  });

  it("is refused before anything is stored when it is invalid", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    assert.equal(await client.refused("chat.send", { sessionKey: "s", message: "" }), "bad_params");
    assert.equal(
      await client.refused("chat.send", { sessionKey: "s", message: "x".repeat(32_001) }),
      "bad_params",
    );
    assert.equal(await client.refused("chat.send", { sessionKey: "", message: "x" }), "bad_params");
    assert.equal(await client.refused("chat.send", { sessionKey: "s", message: 5 }), "bad_params");
    assert.equal(
      await client.refused("chat.send", { sessionKey: "s", message: "x", agentId: "nobody" }),
      "not_found",
    );
    assert.deepEqual((await client.call("sessions.list", {})).sessions, []);
  });
});

describe("several clients of one session", () => {
  it("see all of a run that another client began", async () => {
    await using server = await gatewayWith(["A long enough answer for several deltas."], {
      pace: { delayMs: 5 },
    });
    const [one, two] = [await server.client(), await server.client()];
    await two.call("chat.subscribe", { sessionKey: "s" });
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "Hi" });
    await Promise.all([one.end(runId), two.end(runId)]);
    assert.deepEqual(
      two.ofRun(runId),
      one.ofRun(runId).filter(({ event }) => event !== undefined),
    );
  });

  it("get what a run has said so far, then the rest, without gaps or repeats", async () => {
    const text = "word ".repeat(40).trim();
    await using server = await gatewayWith([text], { pace: { delayMs: 4 } });
    const one = await server.client();
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "Hi" });
    await one.until(({ data }) => (data?.seq ?? 0) >= 8);
    const two = await server.client();
    const { runs } = await two.call("chat.subscribe", { sessionKey: "s" });
    assert.deepEqual([runs[0]?.runId, runs[0]?.state], [runId, "running"]);
    const { blocks, seq } = await two.event("chat.snapshot", runId);
    const [response, snapshot] = two.frames.filter(({ event }) => event !== "sessions.changed");
    assert.deepEqual([response?.result !== undefined, snapshot?.event], [true, "chat.snapshot"]);
    await two.end(runId);
    const before = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    assert.equal(before + two.text(runId), text);
    const later = two
      .ofRun(runId)
      .flatMap(({ event, data }) => (event === "chat.snapshot" ? [] : [data?.seq]));
    assert.deepEqual(
      later,
      later.map((_, index) => seq + 1 + index),
    );
  });

  it("resume after a sequence number when reconnecting, also when the run has ended", async () => {
    await using server = await gatewayWith(["word ".repeat(20)], { pace: { delayMs: 3 } });
    const one = await server.client();
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "Hi" });
    await one.until(({ data }) => data?.seq === 5);
    one.socket.terminate();
    const watcher = await server.client();
    await watcher.call("chat.subscribe", { sessionKey: "s", runId });
    await watcher.end(runId);
    const two = await server.client();
    await two.call("chat.subscribe", { sessionKey: "s", runId, seq: 5 });
    const { seq } = (await two.end(runId)).data as { seq: number };
    assert.deepEqual(
      two.ofRun(runId).map(({ data }) => data?.seq),
      Array.from({ length: seq - 5 }, (_, index) => 6 + index),
    );
  });

  it("get a snapshot when events are no longer buffered, and then the end", async () => {
    await using server = await gatewayWith(["0123456789".repeat(30)], {
      limits: { maxReplayEvents: 10 },
    });
    const one = await server.client();
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "Hi" });
    await one.end(runId);
    const two = await server.client();
    await two.call("chat.subscribe", { sessionKey: "s", runId, seq: 2 });
    await two.end(runId);
    assert.deepEqual(
      two.ofRun(runId).map(({ event }) => event),
      ["chat.snapshot", "chat.final"],
    );
    const { blocks } = await two.event("chat.snapshot", runId);
    assert.deepEqual(blocks.at(-1), { type: "text", turn: 0, text: "0123456789".repeat(30) });
  });

  it("get the state unknown for an unknown run", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    const { runs } = await client.call("chat.subscribe", {
      sessionKey: "s",
      runId: "gone",
      seq: 3,
    });
    assert.deepEqual(runs, [{ runId: "gone", sessionKey: "s", state: "unknown", seq: -1 }]);
  });

  it("can disconnect without stopping the run", async () => {
    await using server = await gatewayWith(["word ".repeat(20)], { pace: { delayMs: 3 } });
    const one = await server.client();
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "Hi" });
    one.socket.terminate();
    const two = await server.client();
    await two.call("chat.subscribe", { sessionKey: "s", runId });
    assert.equal((await two.end(runId)).event, "chat.final");
  });
});

describe("one run per session", () => {
  // Requirements: X24
  it("queues the second message, and runs it with the first answer in its context", async () => {
    await using server = await gatewayWith(["One.", "Two."], { pace: { delayMs: 5 } });
    const client = await server.client();
    const sends = ["first", "second"].map((message) =>
      client.call("chat.send", { sessionKey: "s", message }),
    );
    const [first, second] = await Promise.all(sends);
    assert.deepEqual([first?.status, second?.status], ["started", "queued"]);
    await client.end(second?.runId ?? "");
    const roles = server.model.calls[1]?.context.messages.map(({ role }) => role);
    assert.deepEqual(roles, ["user", "assistant", "user"]);
    const ids = client.frames.flatMap(({ event, data }) =>
      event === "chat.delta" ? [data?.runId] : [],
    );
    assert.equal(ids.lastIndexOf(first?.runId) < ids.indexOf(second?.runId), true);
  });

  it("runs two sessions at once, up to the limit of runs", async () => {
    await using server = await gatewayWith(["a".repeat(80), "b".repeat(80), "c"], {
      pace: { delayMs: 5 },
      limits: { maxRuns: 2 },
    });
    const client = await server.client();
    const sends = ["1", "2", "3"].map((sessionKey) =>
      client.call("chat.send", { sessionKey, message: "go" }),
    );
    const all = await Promise.all(sends);
    assert.deepEqual(
      all.map(({ status }) => status),
      ["started", "started", "queued"],
    );
    await wait(20);
    assert.equal(server.model.calls.length, 2);
    await Promise.all(all.map(({ runId }) => client.end(runId)));
    assert.equal(server.model.calls.length, 3);
  });

  it("refuses a message when the queue is full", async () => {
    await using server = await gatewayWith(["a".repeat(400)], {
      pace: { delayMs: 20 },
      limits: { maxQueuedRuns: 1 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "1" });
    await client.event("chat.delta");
    await client.call("chat.send", { sessionKey: "s", message: "2" });
    assert.equal(await client.refused("chat.send", { sessionKey: "s", message: "3" }), "busy");
    const { runIds } = await client.call("chat.abort", { sessionKey: "s" });
    assert.equal(runIds.length, 2);
    for (const runId of runIds) assert.equal((await client.end(runId)).event, "chat.aborted");
  });
});

describe("a message into a running run", () => {
  it("steers it before its next model call, or follows up when it would stop", async () => {
    const script = [
      { content: [scriptedToolCall("wait", {})] },
      "After steering.",
      "After the follow-up.",
    ];
    const { tool, release } = heldTool();
    const rules = await loadRules([{ action: "allow", tool: "wait" }]);
    await using server = await gatewayWith(script, { tools: () => [tool], rules });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.tool_call", runId);
    const later = await client.call("chat.followUp", { sessionKey: "s", message: "and then?" });
    const steered = await client.call("chat.steer", { sessionKey: "s", message: "faster" });
    assert.deepEqual([steered.status, steered.runId, later.runId], ["steered", runId, runId]);
    release();
    await client.event("chat.final", runId);
    const users = client.ofRun(runId).filter(({ event }) => event === "chat.user");
    assert.deepEqual(
      users.map(({ data }) => data?.text),
      ["go", "faster", "and then?"],
    );
  });

  it("starts a run when none is running", async () => {
    await using server = await gatewayWith(["One.", "Two."]);
    const client = await server.client();
    const { status, runId } = await client.call("chat.steer", {
      sessionKey: "s",
      message: "hello",
    });
    assert.equal(status, "started");
    assert.equal((await client.end(runId)).event, "chat.final");
  });

  it("is held for the next run when the run is stopped", async () => {
    const script = [{ content: [scriptedToolCall("slow", { at: "x" })] }, "Done."];
    const slow = {
      ...look,
      name: "slow",
      execute: async () => (await wait(2000), { content: [] }),
    };
    const rules = await loadRules([{ action: "allow", tool: "slow" }]);
    await using server = await gatewayWith(script, { tools: () => [slow], rules });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.tool_call", runId);
    await client.call("chat.steer", { sessionKey: "s", message: "kept" });
    await client.call("chat.abort", { runId });
    assert.equal((await client.end(runId)).event, "chat.aborted");
    const next = await client.call("chat.send", { sessionKey: "s", message: "again" });
    await client.end(next.runId);
    const users = server.model.calls.at(-1)?.context.messages.filter(({ role }) => role === "user");
    assert.deepEqual(
      users?.map(({ content }) => content),
      ["go", "kept", "again"],
    );
  });
});

describe("stopping a run", () => {
  it("keeps the partial answer, sends one end, and lets the next message run", async () => {
    await using server = await gatewayWith(["word ".repeat(200), "Fine."], {
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.until(({ data }) => data?.seq === 6);
    const { aborted, runIds } = await client.call("chat.abort", { sessionKey: "s", runId });
    assert.deepEqual([aborted, runIds], [true, [runId]]);
    assert.equal((await client.end(runId)).event, "chat.aborted");
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const partial = messages.at(-1)?.message as unknown as {
      stopReason: string;
      content: { text: string }[];
    };
    assert.equal(partial.stopReason, "aborted");
    assert.match(partial.content[0]?.text ?? "", /^word word/);
    const next = await client.call("chat.send", { sessionKey: "s", message: "again" });
    assert.equal((await client.end(next.runId)).event, "chat.final");
  });

  it("is not an error when nothing runs", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    assert.deepEqual(await client.call("chat.abort", { sessionKey: "s" }), {
      aborted: false,
      runIds: [],
    });
    assert.equal(await client.refused("chat.abort", {}), "bad_params");
  });
});

describe("a repeated message", () => {
  it("with the same key starts no second run, and is answered with the run's state", async () => {
    await using server = await gatewayWith(["word ".repeat(20)], { pace: { delayMs: 3 } });
    const client = await server.client();
    const params = { sessionKey: "s", message: "go", idempotencyKey: "my-key" };
    const [first, second] = await Promise.all([
      client.call("chat.send", params),
      client.call("chat.send", params),
    ]);
    assert.deepEqual([first.runId, first.status, second.runId], ["my-key", "started", "my-key"]);
    assert.equal(second.status, "in_flight");
    await client.end("my-key");
    assert.equal((await client.call("chat.send", params)).status, "finished");
    assert.equal(await client.refused("chat.send", { ...params, message: "other" }), "conflict");
    assert.equal(server.model.calls.length, 1);
  });

  it("is recognised from the session by another server", async () => {
    const params = { sessionKey: "s", message: "go", idempotencyKey: "my-key" };
    await using first = await gatewayWith(["Once."]);
    const client = await first.client();
    await client.call("chat.send", params);
    await client.end("my-key");
    await using second = await gatewayWith([], { store: first.store });
    const other = await second.client();
    assert.equal((await other.call("chat.send", params)).status, "finished");
    await other.call("chat.subscribe", { sessionKey: "s", runId: "my-key", seq: 1 });
    await other.end("my-key");
    assert.deepEqual(
      other
        .ofRun("my-key")
        .map(({ event }) => event)
        .filter((event) => event !== undefined),
      ["chat.snapshot", "chat.final"],
    );
  });
});
