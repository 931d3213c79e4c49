/** What people allowed holds in all processes, and after any of them died. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { TestClient } from "../../packages/bowline/test/gateway/gateway.ts";
import { startClusterRig, token, type ClusterRig, type Place } from "../kit/cluster-rig.ts";
import { clusterIsMissing } from "../kit/harness.ts";
import { natsIsMissing } from "../kit/nats.ts";
import type { Turn } from "../kit/outside.ts";
import { eventually } from "./scenarios.ts";

describe("what people allow in a cluster", { skip: clusterIsMissing() || natsIsMissing() }, () => {
  let rig: ClusterRig;
  let places: Place[];
  const clients: TestClient[] = [];
  before(async () => {
    rig = await startClusterRig();
    places = [await rig.addGateway(), await rig.addGateway()];
  });
  after(async () => {
    for (const { socket } of clients) socket.terminate();
    await rig[Symbol.asyncDispose]();
  });

  const enter = async (place: Place | undefined): Promise<TestClient> => {
    const client = await TestClient.enter(place?.url.replace("http", "ws") ?? "", token, "all");
    clients.push(client);
    return client;
  };
  const script = (name: string, calls: readonly string[]): string => {
    const turns: Turn[] = calls.map((command) => ({
      calls: [{ name: "bash", args: { script: name, command } }],
    }));
    return rig.outside.script(name, [...turns, { text: "Done." }]);
  };
  const begin = async (client: TestClient, sessionKey: string, calls: readonly string[]) => {
    const name = randomUUID();
    const message = script(name, calls);
    const { runId } = await client.call("chat.send", { sessionKey, message });
    return { runId, name };
  };
  const questions = (client: TestClient, runId: string) =>
    client.ofRun(runId).filter(({ event }) => event === "exec.approval_request");

  it("holds after its gateway and its worker are gone, and goes with its session", async () => {
    const worker = await rig.addWorker();
    const one = await enter(places[0]);
    const sessionKey = `s/${randomUUID()}`;
    const run = await begin(one, sessionKey, ["make one", "make one"]);
    const { approvalId } = await one.event("exec.approval_request", run.runId);
    await one.call("approvals.resolve", { approvalId, decision: "allow-session" });
    assert.equal((await one.end(run.runId)).event, "chat.final");
    await places[0]?.stop();
    await worker.close();
    await rig.addWorker();
    const two = await enter(places[1]);
    const again = await begin(two, sessionKey, ["make one"]);
    assert.equal((await two.end(again.runId)).event, "chat.final");
    assert.equal(questions(two, again.runId).length, 0);
    await two.call("sessions.delete", { sessionKey });
    const fresh = await begin(two, sessionKey, ["make one"]);
    const asked = await two.event("exec.approval_request", fresh.runId);
    await two.call("exec.deny", { approvalId: asked.approvalId });
    await two.end(fresh.runId);
    assert.deepEqual(rig.outside.seen(fresh.name).tools, []);
    places[0] = await rig.addGateway();
  });

  it("changes nothing about a call that a run asked about before", async () => {
    await rig.addWorker();
    const [one, two] = [await enter(places[0]), await enter(places[1])];
    const [first, second] = [`s/${randomUUID()}`, `s/${randomUUID()}`];
    const waiting = await begin(one, first, ["make two"]);
    const { approvalId } = await one.event("exec.approval_request", waiting.runId);
    const other = await begin(two, second, ["make two"]);
    const asked = await two.event("exec.approval_request", other.runId);
    await two.call("approvals.resolve", {
      approvalId: asked.approvalId,
      decision: "allow-always",
    });
    assert.equal((await two.end(other.runId)).event, "chat.final");
    // Another worker goes the way that the first one went: it waits.
    await rig.addWorker();
    const { approvals } = await eventually(
      () => two.call("approvals.list", { sessionKey: first }),
      (list) => list.approvals.length === 1,
    );
    assert.equal(approvals[0]?.approvalId, approvalId);
    assert.deepEqual(rig.outside.seen(waiting.name).tools, []);
    await two.call("exec.deny", { approvalId });
    assert.equal((await one.end(waiting.runId)).event, "chat.final");
    assert.deepEqual(rig.outside.seen(waiting.name).tools, []);
  });

  it("is not remembered of an answer that came too late", async () => {
    await rig.addWorker();
    const [one, two] = [await enter(places[0]), await enter(places[1])];
    const sessionKey = `s/${randomUUID()}`;
    const run = await begin(one, sessionKey, ["make three"]);
    const { approvalId } = await one.event("exec.approval_request", run.runId);
    const answers = await Promise.allSettled([
      one.call("approvals.resolve", { approvalId, decision: "deny", reason: "no" }),
      two.call("approvals.resolve", {
        approvalId,
        decision: "allow-always",
        pattern: "make three",
      }),
      two.call("approvals.resolve", { approvalId, decision: "allow-session" }),
    ]);
    assert.equal((await one.end(run.runId)).event, "chat.final");
    const ran = rig.outside.seen(run.name).tools.length;
    const rules = (await rig.store.durable.rules()).filter(
      ({ pattern }) => pattern === "make three",
    );
    const taken = answers.slice(1).filter(({ status }) => status === "fulfilled");
    assert.equal(rules.length, taken.length);
    assert.equal(ran, Math.min(taken.length, 1));
  });

  it("is refused where the application's rules cannot be added to", async () => {
    const rules = { judge: () => ({ action: "ask" }) as const, add: () => Promise.resolve() };
    await rig.addWorker({ rules });
    const place = await rig.addGateway({ rules });
    const client = await enter(place);
    const run = await begin(client, `s/${randomUUID()}`, ["make four"]);
    const { approvalId, pattern } = await client.event("exec.approval_request", run.runId);
    assert.equal(pattern, undefined);
    const wanted = { approvalId, decision: "allow-session", pattern: "make four" };
    assert.equal(await client.refused("approvals.resolve", wanted), "bad_params");
    await client.call("exec.approve", { approvalId });
    assert.equal((await client.end(run.runId)).event, "chat.final");
    assert.equal(rig.outside.seen(run.name).tools.length, 1);
  });
});
