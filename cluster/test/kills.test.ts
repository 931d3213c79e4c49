/** Runs whose processes are killed. Everything is counted outside of them. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { clusterIsMissing, startHarness, type Harness } from "../kit/harness.ts";

describe("runs whose processes are killed", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness();
  });
  after(() => h[Symbol.asyncDispose]());

  const restart = async (changes = {}): Promise<void> => {
    await h.worker.kill();
    await h.worker.start(changes);
  };

  it("runs parallel tools and keeps their results in the order of the calls", async () => {
    const run = await h.begin([
      {
        calls: [
          { name: "never", args: { ms: 600 } },
          { name: "safe", args: { ms: 100 } },
          { name: "never", args: { ms: 300 } },
        ],
      },
      { text: "done" },
    ]);
    const { reason, text, turns } = await h.outcome(run);
    assert.deepEqual({ reason, text, turns }, { reason: "done", text: "done", turns: 2 });
    const { turns: asked, tools } = h.outside.seen(run.name);
    assert.deepEqual(asked, [0, 1]);
    assert.equal(tools.length, 3);
    assert.equal(await h.attempts(run.sessionId), 1);
    const spread =
      Math.max(...tools.map(({ startedAt }) => startedAt)) - (tools[0]?.startedAt ?? 0);
    assert.ok(spread < 300, `the tools started within ${spread} ms`);
    assert.deepEqual(await h.shape(run.sessionId), [
      "user",
      "assistant",
      "result: never done",
      "result: safe done",
      "result: never done",
      "assistant",
    ]);
  });

  it("asks the model again when the worker is killed in its call", async () => {
    const run = await h.begin([{ text: "done", ms: 1500 }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.deepEqual(h.outside.seen(run.name).turns, [0, 0]);
    assert.deepEqual(await h.shape(run.sessionId), ["user", "assistant"]);
    // Each attempt counts its events anew, so a reader knows which ones to forget.
    const events = h.events(run.sessionId);
    assert.deepEqual([...new Set(events.map(({ attempt }) => attempt))], [1, 2]);
    const second = events.filter(({ attempt }) => attempt === 2);
    assert.deepEqual(
      second.map(({ number }) => number),
      second.map((_, index) => index),
    );
  });

  it("does not repeat a tool that was running, and tells the model", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 1500 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 1);
    const [, , result] = await h.shape(run.sessionId);
    assert.match(result ?? "", /^result: The process ended while never ran\. It is not known/);
  });

  it("repeats a safe tool that was running, under the same key", async () => {
    const run = await h.begin([{ calls: [{ name: "safe", args: { ms: 1500 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 2);
    assert.equal(new Set(tools.map(({ key }) => key)).size, 1);
    assert.equal((await h.shape(run.sessionId))[2], "result: safe done");
  });

  it("keeps the results of parallel tools that had ended", async () => {
    const run = await h.begin([
      {
        calls: [
          { name: "never", args: { ms: 2500 } },
          { name: "safe", args: { ms: 50 } },
          { name: "never", args: { ms: 50 } },
        ],
      },
      { text: "ok" },
    ]);
    await h.outside.when(
      run.name,
      ({ tools }) => tools.filter(({ endedAt }) => endedAt !== undefined).length === 2,
    );
    await setTimeout(200); // their results are in the journal
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal(h.outside.seen(run.name).tools.length, 3);
    const [, , first, ...rest] = await h.shape(run.sessionId);
    assert.match(first ?? "", /^result: The process ended while never ran/);
    assert.deepEqual(rest, ["result: safe done", "result: never done", "assistant"]);
  });

  it("has one answer in the transcript after a death between an answer and its record", async () => {
    await restart({ diesAfter: "answer" });
    const run = await h.begin([{ text: "done" }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await setTimeout(300);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.deepEqual(h.outside.seen(run.name).turns, [0, 0]);
    assert.deepEqual(await h.shape(run.sessionId), ["user", "assistant"]);
  });

  it("writes no entry twice after a death between a commit and its record", async () => {
    await restart({ diesAfter: "commit" });
    const run = await h.begin([{ text: "done" }]);
    await h.until(async () => (await h.messages(run.sessionId)).length > 1);
    await setTimeout(300);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.deepEqual(h.outside.seen(run.name).turns, [0]);
    assert.deepEqual(await h.shape(run.sessionId), ["user", "assistant"]);
    const entries = await h.entries(run.sessionId);
    assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length);
    assert.deepEqual(
      entries.map(({ type }) => type),
      ["run_start", "message", "message", "run_end"],
    );
  });

  it("asks the model once when Restate is killed in its call", async () => {
    const run = await h.begin([{ text: "done", ms: 2000 }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await h.restate.first.kill();
    await h.restate.first.start();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.deepEqual(h.outside.seen(run.name).turns, [0]);
    assert.deepEqual(await h.shape(run.sessionId), ["user", "assistant"]);
  });

  it("finishes a running tool when Restate is killed", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 2000 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    await h.restate.first.kill();
    await h.restate.first.start();
    assert.equal((await h.outcome(run)).reason, "done");
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 1);
    assert.equal((await h.shape(run.sessionId))[2], "result: never done");
  });

  it("waits for a database that is away, in the same attempt", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 700 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    await h.postgres.crash();
    await setTimeout(1500);
    await h.postgres.start();
    assert.equal((await h.outcome(run)).reason, "done");
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 1);
    assert.equal(await h.attempts(run.sessionId), 1);
    assert.deepEqual(await h.shape(run.sessionId), [
      "user",
      "assistant",
      "result: never done",
      "assistant",
    ]);
  });

  it("keeps an approval while the worker is dead, and occupies no process meanwhile", async () => {
    await restart({ inactivityMs: 500 });
    await h.restate.register(h.worker.uri, { isAgain: true });
    const run = await h.begin([{ calls: [{ name: "asks", args: {} }] }, { text: "ok" }]);
    await h.until(async () => (await h.client.state(run.sessionId)).approvals.length === 1);
    await h.until(async () => (await h.invocation(run.invocationId))?.status === "suspended");
    await setTimeout(1500); // what the suspended attempt might still say
    await restart();
    const [open] = (await h.client.state(run.sessionId)).approvals;
    assert.equal(h.outside.seen(run.name).tools.length, 0);
    const began = Date.now();
    await h.client.answer(run.sessionId, open?.approvalId ?? "", { decision: "allow", by: "ada" });
    assert.equal((await h.outcome(run)).reason, "done");
    assert.ok(Date.now() - began < 3000);
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 1);
    const types = (await h.entries(run.sessionId)).map(({ type }) => type);
    assert.deepEqual(types, [
      "run_start",
      "message",
      "message",
      "approval_request",
      "approval_answer",
      "tool_intent",
      "message",
      "message",
      "run_end",
    ]);
    assert.deepEqual((await h.client.state(run.sessionId)).approvals, []);
    // The attempt that was suspended said nothing of an end.
    const ends = h.events(run.sessionId).filter(({ type }) => type === "agent_end");
    assert.equal(ends.length, 1);
  });

  it("keeps an approval while every server is dead", async () => {
    const run = await h.begin([{ calls: [{ name: "asks", args: {} }] }, { text: "ok" }]);
    await h.until(async () => (await h.client.state(run.sessionId)).approvals.length === 1);
    await h.worker.kill();
    await h.restate.first.kill();
    await h.postgres.crash();
    await h.postgres.start();
    await h.restate.first.start();
    await h.worker.start();
    const [open] = (await h.client.state(run.sessionId)).approvals;
    await h.client.answer(run.sessionId, open?.approvalId ?? "", {
      decision: "deny",
      reason: "no",
    });
    assert.equal((await h.outcome(run)).reason, "done");
    const { turns, tools } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1]);
    assert.equal(tools.length, 0);
    assert.match((await h.shape(run.sessionId))[2] ?? "", /Denied: no/);
  });
});
