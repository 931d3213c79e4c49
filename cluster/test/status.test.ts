/** What Restate says of workers and of runs that fail, to an operator. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRestateAdmin } from "@bowline/restate";
import { clusterIsMissing, startHarness, type Harness } from "../kit/harness.ts";

describe("the status of Restate", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness();
  });
  after(() => h[Symbol.asyncDispose]());

  const status = () => {
    const { admin, ingress } = h.restate;
    return createRestateAdmin({ admin, ingress, attempts: 2 }).status();
  };

  it("lists the deployments with their open runs, the current one first", async () => {
    const run = await h.begin([{ calls: [{ name: "asks" }] }, { text: "done" }]);
    await h.until(async () => (await h.client.state(run.sessionId)).approvals.length === 1);
    const another = await h.addWorker();
    await another.start();
    await h.restate.register(another.uri);
    const { version, nodes, deployments, failing } = await status();
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.equal(nodes, 1);
    assert.deepEqual(
      deployments.map(({ url, openRuns, isCurrent }) => ({ url, openRuns, isCurrent })),
      [
        { url: `${another.uri}/`, openRuns: 0, isCurrent: true },
        { url: `${h.worker.uri}/`, openRuns: 1, isCurrent: false },
      ],
    );
    assert.deepEqual(failing, []);
    await h.client.abort(run.sessionId);
    assert.equal((await h.outcome(run)).reason, "aborted");
    assert.deepEqual(
      (await status()).deployments.map(({ openRuns }) => openRuns),
      [0, 0],
    );
    await another.kill();
    await h.restate.register(h.worker.uri, { isAgain: true });
  });

  it("names the runs whose attempts fail, with the reason", async () => {
    const another = await h.addWorker();
    await another.start();
    await h.restate.register(another.uri);
    const run = await h.begin([
      { calls: [{ name: "never", args: { ms: 10 } }] },
      { calls: [{ name: "never", args: { ms: 1500 } }] },
      { text: "ok" },
    ]);
    await h.outside.when(run.name, ({ tools }) => tools.length >= 2);
    await another.kill();
    await another.start({ isChanged: true });
    // Before, the attempts fail because the worker is away.
    await h.until(async () => /journal/i.test((await status()).failing[0]?.failure ?? ""));
    const [failing] = (await status()).failing;
    assert.equal(failing?.sessionId, run.sessionId);
    assert.equal(failing.invocationId, run.invocationId);
    assert.ok(failing.attempts >= 2);
    const { admin, ingress } = h.restate;
    await createRestateAdmin({ admin, ingress, attempts: 2 }).endStuckRuns();
    assert.deepEqual((await status()).failing, []);
  });
});
