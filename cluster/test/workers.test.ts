/** Several workers: one that was thought dead, and versions of the code beside each other. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { clusterIsMissing, startHarness, type Harness, type Worker } from "../kit/harness.ts";
import { startSwitch, type Switch } from "../kit/switch.ts";

describe("several workers", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  let other: Worker;
  let balancer: Switch;
  before(async () => {
    h = await startHarness();
    other = await h.addWorker();
    await other.start();
    balancer = await startSwitch(h.worker.port);
    await h.restate.register(balancer.uri);
  });
  after(async () => {
    await balancer[Symbol.asyncDispose]();
    await h[Symbol.asyncDispose]();
  });

  /** Stops the first worker and hands its connections to the other one. */
  const handOver = (): void => {
    h.worker.signal("SIGSTOP");
    balancer.to(other.port);
  };
  const wake = async (): Promise<void> => {
    h.worker.signal("SIGCONT");
    await setTimeout(1500);
    balancer.to(h.worker.port);
  };

  it("refuses the writes of a worker that was stopped, and woke later", async () => {
    const run = await h.begin([
      { text: "thinking", ms: 800, calls: [{ name: "never", args: { ms: 1000 } }] },
      { text: "done", ms: 500 },
    ]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    handOver();
    assert.equal((await h.outcome(run)).reason, "done");
    const shape = ["user", "assistant", "result: never done", "assistant"];
    assert.deepEqual(await h.shape(run.sessionId), shape);
    await wake();
    assert.deepEqual(await h.shape(run.sessionId), shape);
    assert.deepEqual(h.outside.seen(run.name).turns, [0, 0, 1]);
    assert.equal(h.outside.seen(run.name).tools.length, 1);
  });

  it("tells the model that a stopped worker's tool is unknown, and runs it once", async () => {
    const run = await h.begin([{ calls: [{ name: "never", args: { ms: 1500 } }] }, { text: "ok" }]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 1);
    handOver();
    assert.equal((await h.outcome(run)).reason, "done");
    await wake();
    assert.equal(h.outside.seen(run.name).tools.length, 1);
    const [, , result, ...rest] = await h.shape(run.sessionId);
    assert.match(result ?? "", /^result: The process ended while never ran/);
    assert.deepEqual(rest, ["assistant"]);
  });

  it("brings no row of a deleted session back when the stopped worker wakes", async () => {
    const run = await h.begin([{ text: "done", ms: 800 }]);
    await h.outside.when(run.name, ({ turns }) => turns.length >= 1);
    handOver();
    await h.outcome(run);
    await h.store.delete(run.sessionId);
    await wake();
    await assert.rejects(h.messages(run.sessionId), { code: "not_found" });
    assert.equal(await h.postgres.sql("select count(*) from bowline.sessions", "bowline"), "2");
  });

  it("ends a run on the version that it began with, and begins the next on the new one", async () => {
    const [one, two] = [await h.addWorker(), await h.addWorker()];
    await one.start({ version: "v1 " });
    await h.restate.register(one.uri);
    const turns = [{ calls: [{ name: "asks" }] }, { text: "ok" }];
    const run = await h.begin(turns);
    await h.until(async () => (await h.client.state(run.sessionId)).approvals.length === 1);
    await two.start({ version: "v2 ", isChanged: true });
    await h.restate.register(two.uri);
    const [open] = (await h.client.state(run.sessionId)).approvals;
    await h.client.answer(run.sessionId, open?.approvalId ?? "", { decision: "allow" });
    assert.equal((await h.outcome(run)).reason, "done");
    assert.equal((await h.shape(run.sessionId))[2], "result: v1 asks done");
    const next = await h.begin([{ calls: [{ name: "never" }] }, { text: "ok" }], run.sessionId);
    await h.outcome(next);
    assert.ok((await h.shape(run.sessionId)).includes("result: v2 never done"));
  });
});
