/** What people do during runs: approvals, messages, aborts. Everything is counted outside. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { clusterIsMissing, startHarness, textOf, type Harness } from "../kit/harness.ts";
import type { WorkerSettings } from "../kit/worker.ts";

const isOurError = (code: string) => (error: unknown) =>
  (error as { readonly code?: string }).code === code;

describe("people during runs", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness({ worker: { inactivityMs: 500 } });
  });
  after(() => h[Symbol.asyncDispose]());

  const restart = async (changes: Partial<WorkerSettings> = {}): Promise<void> => {
    await h.worker.kill();
    await h.worker.start(changes);
  };
  const whenAsked = async (sessionId: string): Promise<string> => {
    await h.until(async () => (await h.client.state(sessionId)).approvals.length === 1);
    return (await h.client.state(sessionId)).approvals[0]?.approvalId ?? "";
  };

  it("gives steering and follow-up messages to the run, each once", async () => {
    const run = await h.begin([
      { calls: [{ name: "never", args: { ms: 800 } }] },
      { text: "after steering" },
      { text: "after the follow-up" },
    ]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    const steering = { messageId: randomUUID(), message: "left" };
    assert.deepEqual(await h.client.steer(run.sessionId, steering), { state: "queued" });
    await h.client.steer(run.sessionId, steering);
    await h.client.followUp(run.sessionId, { messageId: randomUUID(), message: "more" });
    assert.equal((await h.outcome(run)).text, "after the follow-up");
    const { turns, asked } = h.outside.seen(run.name);
    assert.deepEqual(turns, [0, 1, 2]);
    assert.deepEqual(asked[1]?.slice(1), ["left"]);
    assert.deepEqual(asked[2]?.slice(1), ["left", "more"]);
    assert.equal((await h.client.steer(run.sessionId, steering)).state, "taken");
  });

  it("begins a run with a message that is sent while none is going on", async () => {
    const sessionId = randomUUID();
    await h.client.ensure(sessionId);
    const message = h.outside.script("idle", [{ text: "hello" }]);
    await h.client.followUp(sessionId, { messageId: "m1", message });
    await h.until(async () => (await h.messages(sessionId)).length === 2);
    await h.client.followUp(sessionId, { messageId: "m1", message });
    await setTimeout(300);
    assert.deepEqual(h.outside.seen("idle").turns, [0]);
    assert.equal(await h.store.durable.pending(sessionId), 0);
  });

  it("keeps the messages that a failed run has taken for the next run", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 500 } }] }, { status: 401 }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    await h.client.followUp(run.sessionId, { messageId: randomUUID(), message: "later" });
    assert.equal((await h.outcome(run)).reason, "error");
    await h.until(async () => (await h.messages(run.sessionId)).some((m) => textOf(m) === "later"));
  });

  it("closes the model's connection within a second of an abort", async () => {
    const run = await h.begin([{ text: "never said", ms: 8000 }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await setTimeout(200);
    const asked = Date.now();
    assert.equal(await h.client.abort(run.sessionId), true);
    assert.equal((await h.outcome(run)).reason, "aborted");
    const [closedAt = Infinity] = h.outside.seen(run.name).closedAt;
    assert.ok(closedAt - asked < 1000, `closed after ${closedAt - asked} ms`);
    assert.equal(await h.client.abort(run.sessionId), false);
  });

  it("stops tools at an abort, also one that does not listen", async () => {
    for (const name of ["never", "deaf"]) {
      const run = await h.begin([{ calls: [{ name, args: { ms: 6000 } }] }, { text: "no" }]);
      await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
      const asked = Date.now();
      await h.client.abort(run.sessionId);
      assert.equal((await h.outcome(run)).reason, "aborted");
      assert.ok(Date.now() - asked < 4000, `${name} took ${Date.now() - asked} ms`);
      assert.deepEqual(h.outside.seen(run.name).turns, [0]);
      const shape = await h.shape(run.sessionId);
      assert.equal(shape.length, 3);
    }
  });

  it("replays an abort to the same end, with parallel and with sequential tools", async () => {
    for (const toolExecution of ["parallel", "sequential"] as const) {
      await restart({ agent: { toolExecution, abortGraceMs: 2000 } });
      const run = await h.begin([
        {
          calls: [
            { name: "never", args: { ms: 200 } },
            { name: "deaf", args: { ms: 8000 } },
            { name: "never", args: { ms: 8000 } },
          ],
        },
        { text: "no" },
      ]);
      const count = toolExecution === "parallel" ? 3 : 2;
      await h.outside.when(run.name, ({ tools }) => tools.length >= count);
      await setTimeout(400);
      await h.client.abort(run.sessionId);
      await setTimeout(500); // the abort has been delivered, and the deaf tool is in its grace period
      await restart({ agent: { toolExecution, abortGraceMs: 2000 } });
      assert.equal((await h.outcome(run)).reason, "aborted");
      assert.equal(h.outside.seen(run.name).tools.length, count);
      assert.equal((await h.shape(run.sessionId)).length, 5);
    }
    await restart();
  });

  it("aborts a run that waits for an approval", async () => {
    const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "no" }]);
    await whenAsked(run.sessionId);
    await h.client.abort(run.sessionId);
    assert.equal((await h.outcome(run)).reason, "aborted");
    assert.equal(h.outside.seen(run.name).tools.length, 0);
  });

  it("takes an answer to a question that its worker has not opened", async () => {
    for (const decision of ["allow", "deny"] as const) {
      await restart({ diesAfter: "question" });
      const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "ok" }]);
      const { sessionId } = run;
      const { durable } = h.store;
      await h.until(async () => (await durable.openApprovals({ sessionId })).length === 1);
      const [open] = await durable.openApprovals({ sessionId });
      const { approvalId = "" } = open ?? {};
      // Restate has no worker to ask, so it is told later.
      const answering = h.client.answer(sessionId, approvalId, { decision, by: "ada" });
      await h.until(async () => (await durable.openApprovals({ sessionId })).length === 0);
      await restart();
      await answering;
      assert.equal((await h.outcome(run)).reason, "done");
      assert.equal(h.outside.seen(run.name).tools.length, decision === "allow" ? 1 : 0);
      await h.client.answer(sessionId, approvalId, { decision, by: "ada" });
      await assert.rejects(
        h.client.answer(sessionId, approvalId, { decision, by: "bob" }),
        isOurError("not_found"),
      );
    }
  });

  it("runs a call that was allowed in time, though Restate was told of it too late", async () => {
    await restart({ approvalMs: 2500 });
    const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "ok" }]);
    const approvalId = await whenAsked(run.sessionId);
    const place = await h.store.durable.answer(run.sessionId, approvalId, { decision: "allow" });
    assert.equal(place.state, "stored");
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal(h.outside.seen(run.name).tools.length, 1);
    await restart();
  });

  it("denies a call by itself when its approval is not answered in time", async () => {
    await restart({ approvalMs: 1500 });
    const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "no" }]);
    await whenAsked(run.sessionId);
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal(h.outside.seen(run.name).tools.length, 0);
    assert.match((await h.shape(run.sessionId))[2] ?? "", /Denied: there was no answer in time/);
  });

  it("denies a call that is answered late, also if no worker lived at its limit", async () => {
    await restart({ approvalMs: 2000 });
    const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "no" }]);
    const approvalId = await whenAsked(run.sessionId);
    await h.worker.kill();
    await setTimeout(2500);
    const answering = h.client.answer(run.sessionId, approvalId, { decision: "allow" });
    await assert.rejects(answering, isOurError("timeout"));
    await h.worker.start({ approvalMs: 2000 });
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal(h.outside.seen(run.name).tools.length, 0);
    assert.match((await h.shape(run.sessionId))[2] ?? "", /Denied: there was no answer in time/);
    await restart();
  });

  it("runs a call without a question after a person allowed the tool for the session", async () => {
    const turns = [{ calls: [{ name: "asks" }] }, { text: "ok" }];
    const run = await h.begin(turns);
    const approvalId = await whenAsked(run.sessionId);
    await h.client.answer(run.sessionId, approvalId, { decision: "allow", remember: "session" });
    await h.outcome(run);
    const next = await h.begin(turns, run.sessionId);
    await h.outcome(next);
    assert.equal(h.outside.seen(next.name).tools.length, 1);
  });

  it("refuses an answer to an approval that is not open", async () => {
    const sessionId = randomUUID();
    await h.client.ensure(sessionId);
    await assert.rejects(
      h.client.answer(sessionId, "nothing", { decision: "allow" }),
      isOurError("not_found"),
    );
    await assert.rejects(
      h.client.answer(sessionId, "nothing", { decision: "maybe" } as never),
      isOurError("invalid_argument"),
    );
  });
});
