/** Failures, repeated messages, large results, and runs that cannot go on. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createRestateAdmin } from "@bowline/restate";
import { clusterIsMissing, startHarness, textOf, type Harness } from "../kit/harness.ts";
import type { WorkerSettings } from "../kit/worker.ts";

describe("limits of runs", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness();
  });
  after(() => h[Symbol.asyncDispose]());

  const restart = async (changes: Partial<WorkerSettings> = {}): Promise<void> => {
    await h.worker.kill();
    await h.worker.start(changes);
  };

  it("ends a run with the provider's error, in one attempt", async () => {
    const run = await h.begin([{ status: 401 }]);
    const { reason, error } = await h.outcome(run);
    assert.equal(reason, "error");
    assert.equal(error?.code, "authentication_failed");
    assert.deepEqual(h.outside.seen(run.name).turns, [0]);
    assert.equal(await h.attempts(run.sessionId), 1);
  });

  it("retries a provider within the step", async () => {
    await restart({ agent: { maxRetries: 2 } });
    const run = await h.begin([{ status: 500 }]);
    assert.equal((await h.outcome(run)).reason, "error");
    assert.deepEqual(h.outside.seen(run.name).turns, [0, 0, 0]);
    assert.equal(await h.attempts(run.sessionId), 1);
    await restart();
  });

  it("runs a message once that is sent three times", async () => {
    const sessionId = randomUUID();
    await h.client.ensure(sessionId);
    const message = h.outside.script("thrice", [{ text: "done", ms: 500 }]);
    const sent = { messageId: "täglich\n1", message };
    const ids = await Promise.all([1, 2, 3].map(() => h.client.submit(sessionId, sent)));
    assert.equal(new Set(ids.map((id) => JSON.stringify(id))).size, 1);
    await h.until(async () => (await h.messages(sessionId)).length === 2);
    assert.deepEqual(h.outside.seen("thrice").turns, [0]);
    assert.equal((await h.client.submit(sessionId, sent)).state, "taken");
  });

  it("loses nothing when a message is sent again after Restate forgot it", async () => {
    const run = await h.begin([{ text: "done" }]);
    await h.outcome(run);
    const url = `${h.restate.admin}/invocations/${run.invocationId}/purge`;
    const purged = await fetch(url, { method: "PATCH" });
    assert.equal(purged.ok, true);
    await h.until(async () => (await h.invocation(run.invocationId)) === undefined);
    // Not through the client, which would ask the session first.
    const again = await fetch(`${h.restate.ingress}/bowline/${run.sessionId}/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": run.messageId },
      body: JSON.stringify({
        messageId: run.messageId,
        message: { role: "user", content: `script:${run.name}`, timestamp: 1 },
      }),
    });
    const outcome = (await again.json()) as { state: string; runId: string };
    assert.equal(outcome.state, "taken");
    assert.deepEqual(h.outside.seen(run.name).turns, [0]);
    assert.deepEqual(await h.shape(run.sessionId), ["user", "assistant"]);
    // A new message runs, and is stored.
    const next = await h.begin([{ text: "more" }], run.sessionId);
    await h.outcome(next);
    assert.equal((await h.shape(run.sessionId)).length, 4);
  });

  it("runs 300 tools of one answer in parallel", async () => {
    for (const count of [10, 100, 300]) {
      const calls = Array.from({ length: count }, () => ({ name: "never", args: { ms: 50 } }));
      const run = await h.begin([{ calls }, { text: "ok" }]);
      const began = performance.now();
      assert.equal((await h.outcome(run)).reason, "done");
      console.error(`cluster: ${count} tools took ${Math.round(performance.now() - began)} ms`);
      assert.equal(h.outside.seen(run.name).tools.length, count);
      const shape = await h.shape(run.sessionId);
      assert.equal(shape.filter((line) => line === "result: never done").length, count);
    }
  });

  it("starts the next tool when one has ended, with a limit of parallel tools", async () => {
    await restart({ agent: { maxParallelTools: 2 } });
    const calls = [1000, 50, 50].map((ms) => ({ name: "never", args: { ms } }));
    const run = await h.begin([{ calls }, { text: "ok" }]);
    await h.outcome(run);
    const [first, , third] = h.outside.seen(run.name).tools;
    const waited = (third?.startedAt ?? Infinity) - (first?.startedAt ?? 0);
    assert.ok(waited < 700, `the third began after ${waited} ms`);
    await restart();
  });

  it("keeps a result of 34 MB, of a tool that ran once", { timeout: 120_000 }, async () => {
    for (const name of ["safe", "never"]) {
      const size = 34 * 1024 * 1024;
      const run = await h.begin([{ calls: [{ name, args: { size } }] }, { text: "ok" }]);
      assert.equal((await h.outcome(run, 60_000)).reason, "done");
      assert.equal(h.outside.seen(run.name).tools.length, 1);
      const [, , result] = await h.messages(run.sessionId);
      assert.equal(result && textOf(result).length, size + `${name} done`.length);
    }
  });

  it("reads a large result again after the worker died", async () => {
    const size = 400_000;
    const run = await h.begin([
      { calls: [{ name: "never", args: { size } }] },
      { text: "ok", ms: 1500 },
    ]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 2);
    await restart();
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal(h.outside.seen(run.name).tools.length, 1);
    const [, , result] = await h.messages(run.sessionId);
    assert.equal(result && textOf(result).length, size + "never done".length);
  });

  it("ends a run at its time limit, counted from its start and not from the attempt", async () => {
    const agent = { budget: { maxTimeMs: 4000 } };
    await restart({ agent });
    const run = await h.begin([{ text: "too late", ms: 20_000 }]);
    const began = Date.now();
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await setTimeout(1500);
    await restart({ agent });
    const { reason } = await h.outcome(run);
    assert.equal(reason, "budget");
    const took = Date.now() - began;
    assert.ok(took > 3500 && took < 6500, `it took ${took} ms`);
    await restart();
  });

  it("ends a run whose code no longer fits its journal, and frees its session", async () => {
    const run = await h.begin([
      { calls: [{ name: "never", args: { ms: 10 } }] },
      { calls: [{ name: "never", args: { ms: 1500 } }] },
      { text: "ok" },
    ]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 2);
    await restart({ isChanged: true });
    const admin = createRestateAdmin({
      admin: h.restate.admin,
      ingress: h.restate.ingress,
      attempts: 3,
    });
    const ended: string[] = [];
    await h.until(async () => {
      ended.push(...(await admin.endStuckRuns()).map(({ invocationId }) => invocationId));
      return ended.length > 0;
    });
    assert.deepEqual(ended, [run.invocationId]);
    await restart();
    const ends = (await h.entries(run.sessionId)).filter(({ type }) => type === "run_end");
    assert.deepEqual(
      ends.map((entry) => (entry as unknown as { reason: string }).reason),
      ["interrupted"],
    );
    assert.match((await h.shape(run.sessionId)).at(-1) ?? "", /^result: The process ended while/);
    const next = await h.begin([{ text: "again" }], run.sessionId);
    assert.equal((await h.outcome(next)).text, "again");
  });

  it("answers the open calls of a run that was killed", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 5000 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    const url = `${h.restate.admin}/invocations/${run.invocationId}/kill`;
    assert.equal((await fetch(url, { method: "PATCH" })).ok, true);
    const next = await h.begin([{ text: "again" }], run.sessionId);
    assert.equal((await h.outcome(next)).text, "again");
    const shape = await h.shape(run.sessionId);
    assert.deepEqual(
      shape.filter((line) => !line.startsWith("result")),
      ["user", "assistant", "user", "assistant"],
    );
    assert.match(shape[2] ?? "", /^result: The process ended while never ran/);
  });

  it("ends a run whose session is deleted, and brings nothing back", async () => {
    const run = await h.begin([{ text: "done", ms: 1000 }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    await h.store.delete(run.sessionId);
    await assert.rejects(h.outcome(run), { code: "not_found" });
    await assert.rejects(h.messages(run.sessionId), { code: "not_found" });
  });

  it("forgets a session with its runs, so that nothing of it is left", async () => {
    const sessionId = "it's";
    await h.client.ensure(sessionId, { metadata: { user: "ada" } });
    const run = await h.begin([{ text: "secret" }], sessionId);
    await h.outcome(run);
    const waiting = await h.begin([{ calls: [{ name: "asks" }] }], sessionId);
    await h.until(async () => (await h.client.state(sessionId)).approvals.length === 1);
    const admin = createRestateAdmin({ admin: h.restate.admin, ingress: h.restate.ingress });
    const { deleted } = await h.store.deleteSessions(
      { user: "ada" },
      { beforeDelete: (id) => admin.forget(id) },
    );
    assert.deepEqual(deleted, [sessionId]);
    for (const { invocationId } of [run, waiting])
      assert.equal(await h.invocation(invocationId), undefined);
    await h.until(async () => {
      const sql = `select count(*) as n from state where service_key = 'it''s'`;
      return (await h.restate.query(sql))[0]?.n === 0;
    });
  });

  it("rejects a message to a session that does not exist", async () => {
    const message = h.outside.script("nowhere", []);
    await assert.rejects(h.client.submit(randomUUID(), { messageId: "m", message }), {
      code: "not_found",
    });
    assert.deepEqual(h.outside.seen("nowhere").turns, []);
  });
});
