/** Messages that PostgreSQL has accepted, while Restate is away, busy, or has forgotten them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { WaitingMessage } from "@bowline/postgres";
import type { RunOutcome } from "@bowline/restate";
import { clusterIsMissing, startHarness, type Harness, type Run } from "../kit/harness.ts";

describe("messages in the inbox", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness({ worker: { inactivityMs: 500 } });
  });
  after(() => h[Symbol.asyncDispose]());

  const waiting = async (sessionId: string): Promise<WaitingMessage[]> => {
    const all = await h.store.durable.waitingSince(Date.now() + 1, 100);
    return all.filter((message) => message.sessionId === sessionId);
  };
  const outcome = (invocationId: string): Promise<RunOutcome> =>
    h.client.outcome(invocationId, { signal: AbortSignal.timeout(30_000) });

  const kill = async (invocationId: string): Promise<void> => {
    const url = `${h.restate.admin}/invocations/${invocationId}/kill`;
    assert.equal((await fetch(url, { method: "PATCH" })).ok, true);
  };

  /** Begins a run that goes on for a while, and sends a message for the next one. */
  const busy = async (
    ms: number,
  ): Promise<{ first: Run; next: string; invocationId: string; runId: string }> => {
    const first = await h.begin([{ text: "first", ms }]);
    await h.outside.when(first.name, ({ turns }) => turns.length >= 1);
    const next = randomUUID();
    const message = h.outside.script(next, [{ text: "next" }]);
    const runId = `run-${next}`;
    const sent = await h.client.submit(first.sessionId, { messageId: next, message, runId });
    assert.equal(sent.state, "accepted");
    return { first, next, invocationId: "invocationId" in sent ? sent.invocationId : "", runId };
  };

  /** Waits until this many invocations of a session are there and have ended. */
  const whenAllAreOver = (sessionId: string, count: number): Promise<void> =>
    h.until(async () => {
      const rows = await h.restate.query(
        `select status from sys_invocation where target_service_key = '${sessionId}'`,
      );
      return rows.length === count && rows.every(({ status }) => status === "completed");
    });

  /** Begins a run whose worker dies when it has taken the message and shown nothing of it. */
  const beginAndDie = async (): Promise<Run> => {
    await h.worker.kill();
    await h.worker.start({ diesAfter: "begin" });
    const run = await h.begin([{ text: "never asked" }]);
    const { sessionId } = run;
    await h.until(
      async () => (await h.store.durable.openRuns({ sessionId }))[0]?.state === "running",
    );
    return run;
  };

  it("run once that Restate has never heard of, when they are sent again", async () => {
    const [sessionId, name] = [randomUUID(), randomUUID()];
    await h.client.ensure(sessionId);
    const message = h.outside.script(name, [{ text: "done" }]);
    const steered = h.outside.script(`${name}-2`, [{ text: "done" }]);
    await h.restate.first.kill();
    const away = { code: "connection_failed", retryable: true };
    await assert.rejects(h.client.submit(sessionId, { messageId: name, message }), away);
    const other = randomUUID();
    await h.client.ensure(other);
    await assert.rejects(h.client.steer(other, { messageId: "s", message: steered }), away);
    await h.restate.first.start();
    const [[start], [steering]] = [await waiting(sessionId), await waiting(other)];
    assert.ok(start !== undefined && steering !== undefined);
    // Several gateways may find it.
    await Promise.all([start, start, steering, start, steering].map((one) => h.client.resend(one)));
    for (const id of [sessionId, other])
      await h.until(async () => (await h.messages(id)).length === 2);
    await h.client.resend(start);
    await h.client.resend({ ...start, at: 0 });
    await whenAllAreOver(sessionId, 2);
    assert.deepEqual(h.outside.seen(name).turns, [0]);
    assert.deepEqual(h.outside.seen(`${name}-2`).turns, [0]);
    assert.deepEqual(await h.store.durable.findRun(start.runId ?? ""), [
      { sessionId, state: "ended", reason: "done" },
    ]);
    assert.deepEqual(await waiting(sessionId), []);
  });

  it("run once, also if they wait so long that Restate hears of them under another key", async () => {
    const { first, next, invocationId, runId } = await busy(1500);
    const { sessionId } = first;
    const [message] = await waiting(sessionId);
    assert.ok(message !== undefined);
    for (const minutes of [2, 4])
      await h.client.resend({ ...message, at: message.at - minutes * 60_000 });
    assert.equal((await h.outcome(first)).reason, "done");
    await whenAllAreOver(sessionId, 4);
    assert.equal((await outcome(invocationId)).state, "ended");
    assert.deepEqual(h.outside.seen(next).turns, [0]);
    assert.equal((await h.messages(sessionId)).length, 4);
    assert.deepEqual(await h.store.durable.findRun(runId), [
      { sessionId, state: "ended", reason: "done" },
    ]);
  });

  it("never run once they are cancelled, also if they are sent again", async () => {
    const { first, next, invocationId, runId } = await busy(1500);
    const { sessionId } = first;
    const { durable } = h.store;
    const [message] = await waiting(sessionId);
    assert.deepEqual((await durable.openRuns({ sessionId })).map(({ state }) => state).toSorted(), [
      "queued",
      "running",
    ]);
    assert.deepEqual(await durable.cancel(sessionId), [{ id: next, queue: "start", runId }]);
    // The run that is going on goes on.
    assert.equal((await h.outcome(first)).reason, "done");
    const cancelled = { state: "cancelled", runId };
    assert.deepEqual(await outcome(invocationId), cancelled);
    const again = { messageId: next, message: "again" };
    assert.deepEqual(await h.client.submit(sessionId, again), cancelled);
    await h.client.resend({ ...(message as WaitingMessage), at: 0 });
    const later = await h.begin([{ text: "later" }], sessionId);
    await h.outcome(later);
    assert.deepEqual(h.outside.seen(next).turns, []);
    assert.equal((await h.messages(sessionId)).length, 4);
    assert.deepEqual(await durable.findRun(runId), [
      { sessionId, state: "ended", reason: "cancelled" },
    ]);
  });

  it("are not lost when Restate loses their invocation before its turn", async () => {
    const { first, next, invocationId, runId } = await busy(1500);
    const { sessionId } = first;
    await kill(invocationId);
    await h.outcome(first);
    const [message] = await waiting(sessionId);
    assert.equal(message?.id, next);
    await h.client.resend(message);
    await h.until(async () => (await h.store.durable.openRuns({ sessionId })).length === 0);
    assert.deepEqual(h.outside.seen(next).turns, [0]);
    assert.equal((await h.store.durable.findRun(runId))[0]?.reason, "done");
  });

  it("are not lost when their invocation is killed, and Restate keeps its key", async () => {
    const [sessionId, name] = [randomUUID(), randomUUID()];
    await h.client.ensure(sessionId);
    await h.worker.kill();
    const message = h.outside.script(name, [{ text: "done" }]);
    const sent = await h.client.submit(sessionId, { messageId: name, message });
    assert.ok(sent.state === "accepted");
    await h.until(async () => (await h.invocation(sent.invocationId))?.status === "backing-off");
    await kill(sent.invocationId);
    await assert.rejects(outcome(sent.invocationId), { code: "aborted" });
    await h.worker.start();
    const [left] = await waiting(sessionId);
    assert.ok(left !== undefined);
    // Its key leads to the dead invocation. After a while it gets another one.
    await h.client.resend(left);
    await setTimeout(500);
    assert.deepEqual(h.outside.seen(name).turns, []);
    await h.client.resend({ ...left, at: left.at - 16 * 60_000 });
    await h.until(async () => (await h.store.durable.openRuns({ sessionId })).length === 0);
    assert.deepEqual(h.outside.seen(name).turns, [0]);
  });

  it("wait for the next message when their run is killed before it has shown them", async () => {
    const run = await beginAndDie();
    const { durable } = h.store;
    const { sessionId } = run;
    const shown = await durable.waiting(sessionId, { isTaken: true });
    assert.deepEqual(
      shown.map(({ id }) => id),
      [run.messageId],
    );
    await kill(run.invocationId);
    await h.worker.kill();
    await h.worker.start();
    // As the watchdog does after the kill.
    const answer = await fetch(`${h.restate.ingress}/bowline/${sessionId}/recover`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ reason: "The run could not go on." }),
    });
    const { runId } = (await answer.json()) as { runId: string };
    assert.deepEqual(await durable.findRun(runId), [
      { sessionId, state: "ended", reason: "interrupted" },
    ]);
    const [held, ...others] = await durable.waiting(sessionId);
    assert.deepEqual([held?.id, held?.isHeld, others], [run.messageId, true, []]);
    assert.deepEqual(await h.messages(sessionId), []);
    const next = await h.begin([{ text: "both" }], sessionId);
    assert.equal((await h.outcome(next)).text, "both");
    const asked = [`script:${run.name}`, `script:${next.name}`];
    assert.deepEqual(h.outside.seen(next.name).asked, [asked]);
    assert.deepEqual(await durable.waiting(sessionId), []);
  });

  it("go in with the next message when Restate has lost their run", async () => {
    const run = await beginAndDie();
    const { sessionId } = run;
    await kill(run.invocationId);
    await h.worker.kill();
    await h.worker.start();
    const next = await h.begin([{ text: "both" }], sessionId);
    assert.equal((await h.outcome(next)).text, "both");
    const asked = [`script:${run.name}`, `script:${next.name}`];
    assert.deepEqual(h.outside.seen(next.name).asked, [asked]);
  });

  it("and approvals are found over all sessions, while the worker is dead", async () => {
    const run = await h.begin([{ calls: [{ name: "asks", args: {} }] }, { text: "ok" }]);
    const { sessionId } = run;
    const { durable } = h.store;
    await h.until(async () => (await durable.openApprovals({ sessionId })).length === 1);
    // Restate knows it a moment later. A worker that died before would have to ask again.
    await h.until(async () => (await h.client.state(sessionId)).approvals.length === 1);
    await h.worker.kill();
    const [open] = await durable.openApprovals({ beginning: sessionId });
    assert.ok(open !== undefined);
    assert.equal(open.request.toolName, "asks");
    assert.deepEqual(await durable.findApproval(open.approvalId), [{ sessionId, isOpen: true }]);
    assert.equal((await durable.countRuns()).running, 1);
    const [running] = await durable.openRuns({ sessionId });
    assert.deepEqual([running?.runId, running?.state], [open.runId, "running"]);
    await h.worker.start();
    await h.client.answer(sessionId, open.approvalId, { decision: "deny" });
    await h.outcome(run);
    assert.deepEqual(await durable.openApprovals({ sessionId }), []);
    assert.deepEqual(await durable.findApproval(open.approvalId), [{ sessionId, isOpen: false }]);
    assert.deepEqual(await durable.countRuns(), { queued: 0, running: 0 });
  });
});
