/**
 * Refused requests that the client sends by itself, so that the application could not retry them.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually, within } from "../../../../test/support/within.ts";
import type { GatewayClient, RunOutcome } from "../../src/gateway/client/client.ts";
import { refused, seq, serverOf } from "./scripted-server.ts";

const known = {
  result: { sessionKey: "s", runs: [{ runId: "run", sessionKey: "s", state: "running", seq: 7 }] },
};
const snapshot = seq("chat.snapshot", 7, {
  state: "running",
  blocks: [{ type: "text", turn: 0, text: "All of it." }],
});
const final = seq("chat.final", 8, { usage: {}, stopReason: "stop" });

const taking = {
  result: { sessionKey: "s", runs: [{ runId: "run", sessionKey: "s", state: "running", seq: 0 }] },
};
const begun = { result: { runId: "run", sessionKey: "s", status: "started" } };
const message = { sessionKey: "s", message: "Hi", idempotencyKey: "run" };
const resultOf = async (client: GatewayClient, params = message): Promise<RunOutcome> =>
  within(
    "the run ends",
    client.send(params).then((run) => run.result()),
  );

describe("a subscription that the client renews by itself", () => {
  it("is retried after a delay when the server is busy", async () => {
    const gap = seq("chat.delta", 4, { turn: 0, text: "it" });
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), gap],
      [refused("busy")],
      [refused("busy")],
      [known, snapshot, final],
    ]);
    const { text, end } = await resultOf(server.client);
    assert.deepEqual([text, end.event], ["All of it.", "chat.final"]);
    assert.equal(server.asked.length, 4);
  });

  it("is repeated on a new connection, and retried when it is refused there", async () => {
    using server = await serverOf([[begun], []], [[refused("busy")], [known, snapshot, final]]);
    const run = await within("it is accepted", server.client.send(message));
    server.client.request("health.check", {}).catch(() => {}); // drops the connection
    assert.equal((await within("the run ends", run.result())).text, "All of it.");
  });

  it("ends when it is refused permanently", async () => {
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), final],
      [refused("not_found")],
    ]);
    await assert.rejects(resultOf(server.client), { code: "not_found" });
  });
});

describe("a message that waits without a run", () => {
  const waits = { result: { runId: "key", sessionKey: "s", status: "waiting" } };
  const steered = { sessionKey: "s", message: "Hi", idempotencyKey: "key" };
  const over = seq("chat.final", 1, { usage: {}, stopReason: "stop" });

  it("makes the client follow the session, and no run", async () => {
    const went = { text: "Hi", messageId: "key" };
    using server = await serverOf(
      [[waits], [taking, seq("chat.user", 0, went), over], []],
      [[taking]],
    );
    const { client, asked } = server;
    const unknown: string[] = [];
    client.onUnknown((runId) => unknown.push(runId));
    const heard = new Promise((resolve) => {
      client.onEvent((frame) => resolve(frame.data));
    });
    const posted = within("it is accepted", client.post("chat.steer", steered));
    assert.equal((await posted).status, "waiting");
    assert.equal(
      ((await within("the client hears of it", heard)) as { messageId?: string }).messageId,
      "key",
    );
    assert.deepEqual(asked[1]?.params, { sessionKey: "s" });
    client.request("health.check", {}).catch(() => {}); // drops the connection
    await eventually("it follows the session again", () => asked.length >= 4);
    assert.equal(asked[3]?.method, "chat.subscribe");
    assert.notEqual(asked[3].params.runId, "key");
    assert.deepEqual(unknown, []);
  });

  it("has no run for a client that sends it as a message of its own", async () => {
    using server = await serverOf([[waits], [taking]]);
    await assert.rejects(resultOf(server.client, steered), { code: "not_found" });
  });
});
