/** Requests of the client that are refused or cut off, and what it asks for on its next connection. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { eventually, within } from "../../../../test/support/within.ts";
import { listenersOf, refused, seq, serverOf, type Asked } from "./scripted-server.ts";

const message = { sessionKey: "s", message: "Hi", idempotencyKey: "run" };
const begun = { result: { runId: "run", sessionKey: "s", status: "started" } };
const followed = { result: { sessionKey: "s", runs: [] } };
const healthy = { result: {} };
const user = seq("chat.user", 0, { text: "Hi" });
const gap = seq("chat.delta", 4, { turn: 0, text: "it" });
const summary = (asked: readonly Asked[]): unknown[] =>
  asked.map(({ method, params: { runId } }) => (runId === undefined ? method : [method, runId]));

describe("a message of the client", () => {
  it("is not sent again after a refusal", async () => {
    using server = await serverOf([[refused("not_found")], [begun]]);
    const posted = within("it is refused", server.client.post("chat.send", message));
    await assert.rejects(posted, { code: "not_found" });
    assert.deepEqual(summary(server.asked), ["chat.send"]);
  });

  it("is sent again under its key when the connection was lost before the answer", async () => {
    using server = await serverOf([[]], [[followed], [begun]]);
    const { runId } = await within("it is accepted", server.client.post("chat.send", message));
    assert.equal(runId, "run");
    const sent = server.asked.filter(({ method }) => method === "chat.send");
    assert.deepEqual(
      sent.map(({ params }) => (params as { idempotencyKey?: string }).idempotencyKey),
      ["run", "run"],
    );
  });

  it("whose key began another run follows that one only", async () => {
    const known = {
      result: {
        sessionKey: "s",
        runs: [{ runId: "run", sessionKey: "s", state: "running", seq: 0 }],
      },
    };
    const finished = { result: { runId: "run", sessionKey: "s", status: "finished" } };
    const final = seq("chat.final", 1, { usage: {}, stopReason: "stop" });
    using server = await serverOf([[finished], [known], [known, user, final]]);
    const { client } = server;
    const listening = listenersOf(client);
    const run = await within("it is accepted", client.send({ ...message, idempotencyKey: "key" }));
    assert.equal(run.runId, "run");
    assert.equal((await within("the run ends", run.result())).end.event, "chat.final");
    assert.equal(listening.size, 0);
  });

  it("that is followed through many refusals leaves no listeners behind", async (t) => {
    const listened = t.mock.method(EventTarget.prototype, "addEventListener");
    const busy = Array.from({ length: 3 }, () => [refused("busy")]);
    using server = await serverOf([[begun, user, gap], ...busy, [followed], [healthy]]);
    const { client, asked } = server;
    await within("it is accepted", client.send(message));
    await eventually("the server is asked until it is free", () => asked.length === 5);
    await within("the server answers", client.request("health.check", {}));
    const targets = new Set(listened.mock.calls.map((call) => call.this));
    const signals = [...targets].filter((target) => target instanceof AbortSignal);
    assert.deepEqual(
      signals.map((signal) => getEventListeners(signal, "abort").length),
      [0],
    );
  });

  it("whose run the server no longer knows asks for that run once", async () => {
    using server = await serverOf([[begun, user, gap], [refused("not_found")], [healthy]]);
    const { client, asked } = server;
    const run = await within("it is accepted", client.send(message));
    await assert.rejects(within("the run is given up", run.result()), { code: "not_found" });
    await new Promise((resolve) => setTimeout(resolve, 20)); // longer than the client's backoff
    await within("the server answers", client.request("health.check", {}));
    assert.deepEqual(summary(asked), ["chat.send", ["chat.subscribe", "run"], "health.check"]);
  });

  it("is rejected when the client is closed before the answer", async () => {
    using server = await serverOf([[{ event: "tick", data: { time: 1 } }]]);
    const posted = server.client.post("chat.send", message);
    await eventually("it is sent", () => server.asked.length === 1);
    server.client.close();
    await assert.rejects(within("it is rejected", posted), { code: "connection_lost" });
  });
});

describe("the next connection of a client", () => {
  it("does not ask for a run that the server does not know", async () => {
    using server = await serverOf(
      [[begun, user, gap], [refused("not_found")], []],
      [[followed], [healthy]],
    );
    const { client, asked } = server;
    const unknown: string[] = [];
    client.onUnknown((runId) => unknown.push(runId));
    const run = await within("it is accepted", client.send(message));
    await assert.rejects(within("the run is given up", run.result()), { code: "not_found" });
    const lost = client.request("health.check", {});
    await assert.rejects(within("the connection is cut", lost), { code: "connection_lost" });
    await within("the next one answers", client.request("health.check", {}));
    assert.deepEqual(summary(asked).slice(3), ["chat.subscribe", "health.check"]);
    assert.deepEqual(unknown, ["run"]);
  });

  it("does not subscribe to a session that the client has unsubscribed from", async () => {
    using server = await serverOf([[followed], [healthy], []], [[healthy]]);
    const { client, asked } = server;
    await within("it subscribes", client.subscribe("s"));
    await within("it unsubscribes", client.unsubscribe("s"));
    const lost = client.request("health.check", {});
    await assert.rejects(within("the connection is cut", lost), { code: "connection_lost" });
    await within("the next one answers", client.request("health.check", {}));
    assert.deepEqual(summary(asked).slice(2), ["health.check", "health.check"]);
  });
});
