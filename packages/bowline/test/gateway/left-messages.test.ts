/**
 * Messages of an earlier process that no run takes. They can still be listed, aborted and deleted.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, createSession, type Store } from "@bowline/core/session";
import { createMemoryPending, type PendingMessage } from "../../src/gateway/runs/pending.ts";
import { agents, gatewayWith, type TestClient } from "./gateway.ts";

const message = (id: string, kind: PendingMessage["kind"], timestamp: number): PendingMessage => {
  return { id, kind, sessionKey: "s", agentId: "gone", text: `the text of ${id}`, timestamp };
};
const back = [...agents, { id: "gone", model: "scripted/scripted", description: "Is back." }];

async function waitingIn(client: TestClient): Promise<string[]> {
  const { waiting } = await client.call("chat.history", { sessionKey: "s" });
  return waiting.map(({ messageId, kind }) => `${messageId} ${kind}`);
}

/**
 * One message whose run has begun, one that steers it, and one queued after it, all for a missing
 * agent.
 */
async function left(store = createMemoryStore()) {
  const pending = createMemoryPending();
  const session = await createSession(store, { id: "s" });
  await session.append({
    type: "run_start",
    runId: "begun",
    model: { provider: "scripted", model: "scripted" },
  });
  const user = { role: "user", content: "the text of begun", timestamp: 1 } as const;
  await session.append({ type: "message", runId: "begun", message: user });
  await session.close();
  for (const one of [
    message("begun", "send", 1),
    message("so", "steer", 2),
    message("next", "send", 3),
  ])
    await pending.add(one);
  return { store, pending };
}

describe("messages whose agent no longer exists", () => {
  it("wait in the history of their session, and run on a server that has the agent", async () => {
    const options = await left();
    {
      await using server = await gatewayWith([], options);
      assert.deepEqual(await waitingIn(await server.client()), ["so steer", "next send"]);
    }
    await using server = await gatewayWith(["Begun.", "Next."], { ...options, agents: () => back });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "next" });
    assert.equal((await client.end("next")).event, "chat.final");
    while ((await client.call("health.check", {})).runs > 0);
    assert.deepEqual(await options.pending.list(), []);
  });

  for (const method of ["sessions.delete", "sessions.reset"] as const) {
    it(`are removed by ${method}`, async () => {
      const options = await left();
      await using server = await gatewayWith([], options);
      const client = await server.client();
      await client.call(method, { sessionKey: "s" });
      assert.deepEqual([await options.pending.list(), await waitingIn(client)], [[], []]);
    });
  }

  it("are aborted: queued ones do not run, a running one ends, and a steering message is held", async () => {
    const options = await left();
    {
      await using server = await gatewayWith([], options);
      const client = await server.client();
      assert.deepEqual(await client.call("chat.abort", { runId: "next" }), {
        aborted: true,
        runIds: ["next"],
      });
      assert.deepEqual((await client.call("chat.abort", { sessionKey: "s" })).runIds, ["begun"]);
      assert.deepEqual(await waitingIn(client), ["so held"]);
    }
    await using server = await gatewayWith([], { ...options, agents: () => back });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "begun" });
    assert.equal((await client.end("begun")).event, "chat.aborted");
    assert.deepEqual([await waitingIn(client), server.model.calls.length], [["so held"], 0]);
  });

  it("can be sent again to an existing agent", async () => {
    const options = await left();
    await using server = await gatewayWith(["Here."], options);
    const client = await server.client();
    await client.call("chat.send", {
      sessionKey: "s",
      message: "the text of next",
      idempotencyKey: "next",
    });
    assert.equal((await client.end("next")).event, "chat.final");
    assert.deepEqual((await client.call("chat.abort", { sessionKey: "s" })).runIds, ["begun"]);
  });
});

it("messages of an unreadable session are removed with it", async () => {
  let isBroken = false;
  const memory = createMemoryStore();
  const load = async (id: string): ReturnType<Store["load"]> => {
    if (isBroken) throw new BowlineError("storage_failed", "Too many open files.");
    return memory.load(id);
  };
  const options = await left({ ...memory, load });
  isBroken = true;
  await using server = await gatewayWith([], options);
  isBroken = false;
  await (await server.client()).call("sessions.delete", { sessionKey: "s" });
  assert.deepEqual(await options.pending.list(), []);
});
