import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryPending, type Pending } from "../../src/gateway/pending.ts";
import { gatewayWith, wait } from "./gateway.ts";

describe("a run that waits and is aborted", () => {
  it("cannot come back by the time that anybody is told", async () => {
    const pending = createMemoryPending();
    const slow: Pending = { ...pending, remove: (id) => wait(100).then(() => pending.remove(id)) };
    await using server = await gatewayWith(["word ".repeat(200)], { pending: slow, pace: { delayMs: 5 } });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const { runId, status } = await client.call("chat.send", { sessionKey: "s", message: "second" });
    assert.equal(status, "queued");
    const kept = async (): Promise<boolean> => (await pending.list()).some(({ id }) => id === runId);
    const told = client.end(runId).then(kept);
    assert.deepEqual(await client.call("chat.abort", { runId }), { aborted: true, runIds: [runId] });
    assert.deepEqual([await kept(), await told], [false, false]);
  });

  it("cannot come back either when it is aborted while it is being kept", async () => {
    const pending = createMemoryPending();
    const slow: Pending = {
      ...pending,
      add: (message) => wait(message.text === "second" ? 100 : 0).then(() => pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(200)], { pending: slow, pace: { delayMs: 5 } });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const sending = client.call("chat.send", { sessionKey: "s", message: "second", idempotencyKey: "the-key" });
    await wait(30);
    assert.deepEqual((await client.call("chat.abort", { runId: "the-key" })).runIds, ["the-key"]);
    await sending;
    assert.equal((await client.end("the-key")).event, "chat.aborted");
    assert.deepEqual(
      (await pending.list()).map(({ text }) => text),
      ["first"],
    );
  });

  it("ends also when the disk fails, and the request says so", async () => {
    const pending = createMemoryPending();
    const broken: Pending = { ...pending, remove: () => Promise.reject(new Error("no disk")) };
    await using server = await gatewayWith(["word ".repeat(100)], { pending: broken, pace: { delayMs: 5 } });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "second" });
    assert.equal(await client.refused("chat.abort", { runId }), "internal");
    assert.equal((await client.end(runId)).event, "chat.aborted");
  });
});
