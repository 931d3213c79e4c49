/** Users, limits, and what happens when parts of a cluster are away. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { ClusterOptions } from "@bowline/cluster";
import { BowlineError } from "@bowline/core";
import { createPostgresStore } from "@bowline/postgres";
import { GatewayClient } from "bowline/client";
import { createPage } from "bowline/gateway";
import { TestClient } from "../../packages/bowline/test/gateway/gateway.ts";
import { startClusterRig, type ClusterRig, type Place } from "../kit/cluster-rig.ts";
import { clusterIsMissing } from "../kit/harness.ts";
import { natsIsMissing } from "../kit/nats.ts";
import type { Turn } from "../kit/outside.ts";
import { createScriptedAgent } from "../kit/scripted-agent.ts";
import { eventually } from "./scenarios.ts";

const users: Readonly<Record<string, string>> = { "token of ann": "ann", "token of bob": "bob" };
const authorize: ClusterOptions["authorize"] = (token) => {
  if (token === "token of all") return { scope: "full" };
  const user = users[token];
  return user === undefined ? undefined : { scope: "full", sessions: `${user}/`, user };
};

describe("a cluster", { skip: clusterIsMissing() || natsIsMissing() }, () => {
  let rig: ClusterRig;
  let places: Place[];
  const clients: TestClient[] = [];
  before(async () => {
    rig = await startClusterRig({
      authorize,
      token: "the-token-of-these-tests",
      maxRunsPerUser: 2,
      secrets: ["a secret of the application"],
      agents(sessionKey, user) {
        if (sessionKey.includes("broken")) throw new Error("no agent for you");
        if (sessionKey.includes("retry"))
          throw new BowlineError("rate_limited", "a secret of the application", {
            retryable: true,
          });
        return createScriptedAgent(rig.outside.url, `You help ${user.id ?? "somebody"}.`);
      },
    });
    await rig.addWorker();
    places = [await rig.addGateway(), await rig.addGateway()];
  });
  after(async () => {
    for (const { socket } of clients) socket.terminate();
    await rig[Symbol.asyncDispose]();
  });

  const enter = async (own: string, at: 0 | 1 = 0): Promise<TestClient> => {
    const client = await TestClient.enter(places[at]?.url.replace("http", "ws") ?? "", own, "all");
    clients.push(client);
    return client;
  };
  const say = (name: string, turns: readonly Turn[]): string =>
    rig.outside.script(
      name,
      turns.map(({ calls, ...turn }) => ({
        ...turn,
        ...(calls && {
          calls: calls.map((call) => ({ ...call, args: { script: name, ...call.args } })),
        }),
      })),
    );

  it("shows a user nothing of others", async () => {
    const [ann, bob] = [await enter("token of ann"), await enter("token of bob", 1)];
    const name = randomUUID();
    const sessionKey = `ann/${name}`;
    const message = say(name, [{ calls: [{ name: "asks" }] }, { text: "Secret of Ann." }]);
    const { runId } = await ann.call("chat.send", { sessionKey, message });
    const { approvalId } = await ann.event("exec.approval_request", runId);
    const queued = await ann.call("chat.send", { sessionKey, message: "waits" });
    assert.deepEqual((await bob.call("approvals.list", {})).approvals, []);
    assert.deepEqual((await bob.call("sessions.list", {})).sessions, []);
    assert.equal(await bob.refused("exec.deny", { approvalId }), "not_found");
    assert.equal(await bob.refused("chat.history", { sessionKey }), "forbidden");
    for (const id of [runId, queued.runId])
      assert.deepEqual(await bob.call("chat.abort", { runId: id }), { aborted: false, runIds: [] });
    const url = `${places[1]?.url}/api/runs/${runId}/events`;
    const headers = { authorization: "Bearer token of bob" };
    assert.equal((await fetch(url, { headers })).status, 404);
    await ann.call("exec.approve", { approvalId });
    await ann.end(queued.runId);
    const { session } = await ann.call("sessions.create", {});
    assert.match(session.sessionKey, /^ann\//);
    assert.deepEqual(
      bob.frames.filter(({ event }) => event !== undefined && event !== "tick"),
      [],
    );
    const { messages } = await ann.call("chat.history", { sessionKey });
    assert.match(JSON.stringify(messages), /Secret of Ann/);
  });

  it("is mounted below a path of a server, with the page, as one process is", async () => {
    const place = await rig.addGateway({ path: "/agents", page: createPage() });
    assert.equal((await fetch(place.url)).status, 418);
    assert.match(await (await fetch(`${place.url}/agents/`)).text(), /^<!doctype html>/);
    const ann = new GatewayClient({ url: `${place.url}/agents`, token: "token of ann" });
    const name = randomUUID();
    const sessionKey = `ann/${name}`;
    const run = await ann.send({ sessionKey, message: say(name, [{ text: "Hello." }]) });
    assert.equal((await run.result()).text, "Hello.");
    await assert.rejects(
      ann.request("chat.history", { sessionKey: "bob/1" }),
      /sessions whose keys begin with "ann\/"/,
    );
    ann.close();
    await place.stop();
    assert.deepEqual(
      [(await rig.store.load(sessionKey)).metadata?.user],
      [{ id: "ann", sessions: "ann/" }],
    );
  });

  it("limits the open runs of a user over all gateways", async () => {
    const [one, two] = [await enter("token of bob"), await enter("token of bob", 1)];
    const send = (client: TestClient, name: string): Promise<{ runId: string }> =>
      client.call("chat.send", {
        sessionKey: `bob/${name}`,
        message: say(name, [{ text: "Long.", ms: 3000 }]),
      });
    const names = Array.from({ length: 6 }, () => randomUUID());
    const sent = await Promise.allSettled(
      names.map((name, index) => send(index % 2 === 0 ? one : two, name)),
    );
    const done = sent.filter(({ status }) => status === "fulfilled");
    assert.equal(done.length, 2);
    const refused = await one.refused("chat.send", { sessionKey: "bob/more", message: "x" });
    assert.equal(refused, "busy");
    const ann = await enter("token of ann");
    const other = await ann.call("chat.send", {
      sessionKey: `ann/${names[0]}`,
      message: say(`ann ${names[0]}`, [{ text: "Hi." }]),
    });
    await ann.end(other.runId);
    for (const name of names) await one.call("chat.abort", { sessionKey: `bob/${name}` });
    await eventually(
      () => rig.store.durable.openRuns({ owner: "bob" }),
      (open) => open.length === 0,
    );
    const again = await send(two, randomUUID());
    await two.call("chat.abort", { runId: again.runId });
  });

  it("takes an answer while no worker and no Restate knows the question", async () => {
    const store = createPostgresStore({ connectionString: rig.postgresUrl });
    const { durable } = store;
    const append = durable.append.bind(durable);
    // The worker stops when the question is in the database.
    durable.append = async (...args) => {
      const entries = await append(...args);
      return entries.some(({ type }) => type === "approval_request")
        ? new Promise(() => {})
        : entries;
    };
    await rig.addWorker({ postgres: store });
    const client = await enter("token of all");
    const ask = async (): Promise<{ name: string; runId: string; approvalId: string }> => {
      const name = randomUUID();
      const message = say(name, [{ calls: [{ name: "asks" }] }, { text: "Done." }]);
      const sessionKey = `answered/${name}`;
      const { runId } = await client.call("chat.send", { sessionKey, message });
      const { approvals } = await eventually(
        () => client.call("approvals.list", { sessionKey }),
        (answer) => answer.approvals.length > 0,
      );
      return { name, runId, approvalId: approvals[0]?.approvalId ?? "" };
    };
    const [one, two] = [await ask(), await ask()];
    await client.call("exec.approve", { approvalId: one.approvalId });
    assert.deepEqual(
      (await client.call("approvals.list", {})).approvals.map(({ approvalId }) => approvalId),
      [two.approvalId],
    );
    assert.equal(await client.refused("exec.deny", { approvalId: one.approvalId }), "conflict");
    await rig.restate.first.kill();
    await client.call("exec.approve", { approvalId: two.approvalId });
    await rig.restate.first.start();
    await rig.addWorker();
    for (const { name, runId } of [one, two]) {
      assert.equal((await client.end(runId)).event, "chat.final");
      assert.equal(rig.outside.seen(name).tools.length, 1);
    }
    await store.close();
  });

  it("passes an answer on that was stored while Restate was away", async () => {
    const client = await enter("token of all");
    const name = randomUUID();
    const message = say(name, [{ calls: [{ name: "asks" }] }, { text: "Done." }]);
    const sessionKey = `answered/${name}`;
    const { runId } = await client.call("chat.send", { sessionKey, message });
    const { approvalId } = await client.event("exec.approval_request", runId);
    const url = `${rig.restate.ingress}/bowline/${encodeURIComponent(sessionKey)}/state`;
    await eventually(
      async () => (await fetch(url, { method: "POST" })).text(),
      (state) => state.includes(approvalId),
    );
    await rig.restate.first.kill();
    await client.call("exec.approve", { approvalId });
    await rig.restate.first.start();
    assert.equal((await client.end(runId)).event, "chat.final");
    assert.equal(rig.outside.seen(name).tools.length, 1);
  });

  it("tells the error of an agent that cannot be made at once, without secrets", async () => {
    const client = await enter("token of all");
    for (const [kind, code, text] of [
      ["broken", "hook_failed", "The agent could not be made: no agent for you"],
      ["retry", "rate_limited", "[redacted]"],
    ] as const) {
      const sessionKey = `${kind}/${randomUUID()}`;
      const begun = performance.now();
      const { runId } = await client.call("chat.send", { sessionKey, message: "hello" });
      const { event, data } = await client.end(runId);
      assert.equal(event, "chat.error");
      assert.ok(performance.now() - begun < 5000);
      assert.deepEqual((data?.error as { code?: string } | undefined)?.code, code);
      assert.match(JSON.stringify(data), new RegExp(text.replaceAll(/[[\]]/g, ".")));
      const { messages } = await client.call("chat.history", { sessionKey });
      assert.equal(messages.length, 1);
    }
  });

  it("accepts messages while Restate is away, and runs them when it is back", async () => {
    const client = await enter("token of all");
    await rig.restate.first.kill();
    const names = [randomUUID(), randomUUID()];
    const runs: string[] = [];
    for (const name of names) {
      const sessionKey = `all/${name}`;
      const sent = await client.call("chat.send", {
        sessionKey,
        message: say(name, [{ text: "Late." }]),
        idempotencyKey: name,
      });
      assert.equal(sent.status, "queued");
      runs.push(sent.runId);
      const { waiting } = await client.call("chat.history", { sessionKey });
      assert.deepEqual(
        waiting.map(({ messageId }) => messageId),
        [name],
      );
    }
    const ready = await fetch(`${places[0]?.url}/ready`);
    assert.equal(ready.status, 503);
    const { parts } = (await ready.json()) as { parts: { name: string; isReady: boolean }[] };
    assert.deepEqual(
      parts.map(({ name, isReady }) => [name, isReady]),
      [
        ["postgres", true],
        ["restate", false],
        ["nats", true],
      ],
    );
    // The gateway that accepted them dies.
    await places[0]?.stop();
    places[0] = await rig.addGateway();
    await rig.restate.first.start();
    const later = await enter("token of all");
    for (const [index, name] of names.entries()) {
      const runId = runs[index] ?? "";
      await later.call("chat.subscribe", { sessionKey: `all/${name}`, runId });
      assert.equal((await later.end(runId)).event, "chat.final");
      assert.deepEqual(rig.outside.seen(name).turns, [0]);
    }
  });

  it("takes an answer after everything was restarted", async () => {
    const client = await enter("token of all");
    const name = randomUUID();
    const sessionKey = `all/${name}`;
    const { runId } = await client.call("chat.send", {
      sessionKey,
      message: say(name, [{ calls: [{ name: "asks" }] }, { text: "Asked." }]),
    });
    const { approvalId } = await client.event("exec.approval_request", runId);
    await Promise.all(places.map((place) => place.stop()));
    await rig.restate.first.kill();
    await rig.postgres.crash();
    await rig.nats.kill();
    await rig.postgres.start();
    await rig.nats.start();
    await rig.restate.first.start();
    await rig.addWorker();
    places = [await rig.addGateway(), await rig.addGateway()];
    const later = await enter("token of all", 1);
    const { approvals } = await eventually(
      () => later.call("approvals.list", { sessionKey }),
      (answer) => answer.approvals.length === 1,
    );
    assert.equal(approvals[0]?.approvalId, approvalId);
    await later.call("chat.subscribe", { sessionKey, runId });
    await later.call("exec.approve", { approvalId });
    assert.equal((await later.end(runId)).event, "chat.final");
    assert.equal(rig.outside.seen(name).tools.length, 1);
  });

  it("is one process that is both, and answers while it is alone", async () => {
    const both = await rig.addBoth();
    const client = await TestClient.enter(both.url.replace("http", "ws"), "token of all", "all");
    const name = randomUUID();
    const sessionKey = `all/${name}`;
    const turns = [{ calls: [{ name: "work", args: { ms: 300 } }] }, { text: "Both." }];
    const { runId } = await client.call("chat.send", { sessionKey, message: say(name, turns) });
    await rig.outside.when(name, ({ tools }) => tools.length > 0);
    const steered = await client.call("chat.steer", { sessionKey, message: "left" });
    assert.equal((await client.event("chat.queued", runId)).messageId.length > 0, true);
    assert.equal(steered.runId, runId);
    assert.equal((await client.end(runId)).event, "chat.final");
    assert.equal(client.text(runId), "Both.");
    const response = await fetch(`${both.url}/ready`);
    const { parts } = (await response.json()) as { parts: { name: string; isReady: boolean }[] };
    assert.deepEqual(
      parts.map((part) => `${part.name} ${part.isReady}`),
      ["postgres true", "restate true", "nats true", "worker true"],
    );
    client.socket.terminate();
    await both.stop();
  });

  it("ends the running step of a worker that drains, and continues elsewhere", async () => {
    const client = await enter("token of all");
    const worker = await rig.addWorker();
    const name = randomUUID();
    const sessionKey = `all/${name}`;
    const { runId } = await client.call("chat.send", {
      sessionKey,
      message: say(name, [
        { calls: [{ name: "work", args: { ms: 1500 } }], text: "One. " },
        { text: "Two." },
      ]),
    });
    await rig.outside.when(name, ({ tools }) => tools.length > 0);
    const draining = worker.drain({ graceMs: 20_000 });
    assert.equal((await worker.ready()).message, "draining");
    await setTimeout(100);
    assert.equal(rig.outside.seen(name).tools[0]?.endedAt, undefined);
    await draining;
    assert.ok(rig.outside.seen(name).tools[0]?.endedAt !== undefined);
    await setTimeout(500);
    assert.deepEqual(rig.outside.seen(name).turns, [0]); // no further step begins
    await worker.close();
    await rig.addWorker();
    assert.equal((await client.end(runId)).event, "chat.final");
    const { turns, tools } = rig.outside.seen(name);
    assert.deepEqual([turns, tools.length], [[0, 1], 1]);
  });
});
