/** Messages and runs that are interrupted by a failure or by the end of a run. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, type AnyEntry, type Store } from "@bowline/core/session";
import {
  createMemoryPending,
  createPendingFolder,
  type PendingMessage,
} from "../../src/gateway/runs/pending.ts";
import { scriptedToolCall } from "@bowline/core/testing";
import { withAppend } from "../../../../test/support/with-append.ts";
import { heldTool } from "../held-tool.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { eventually, within } from "../../../../test/support/within.ts";
import { agents, gatewayWith, type TestClient } from "./gateway.ts";

const noRoom = new BowlineError("storage_failed", "There is no room left.", { retryable: true });
const idle = (client: TestClient): Promise<void> =>
  eventually("no run goes on", async () => (await client.call("health.check", {})).runs === 0);
const end = async (client: TestClient, runId: string): Promise<string | undefined> =>
  (await within(`run ${runId} ends`, client.end(runId))).event;

describe("a message that could not be stored", () => {
  const once = { sessionKey: "s", message: "Hi", idempotencyKey: "key" };

  it("leaves its key unused and its session's lane idle", async () => {
    const pending = createMemoryPending();
    let isFull = true;
    const add = async (message: PendingMessage): Promise<void> => {
      if (isFull) throw noRoom;
      await pending.add(message);
    };
    await using server = await gatewayWith(["Hello."], { pending: { ...pending, add } });
    const client = await server.client();
    assert.equal(await client.refused("chat.send", once), "storage_failed");
    isFull = false;
    const { status } = await client.call("chat.send", once);
    assert.equal(status, "started");
    assert.equal(await end(client, "key"), "chat.final");
  });

  it("ends its run for clients that follow it already", async () => {
    const [reached, gate] = [deferred(), deferred()];
    const pending = createMemoryPending();
    const add = async (): Promise<void> => {
      reached.resolve();
      await gate.promise;
      throw noRoom;
    };
    await using server = await gatewayWith([], { pending: { ...pending, add } });
    const [client, other] = [await server.client(), await server.client()];
    const refused = client.refused("chat.send", once);
    await within("the message is being kept", reached.promise);
    await other.call("chat.subscribe", { sessionKey: "s", runId: "key" });
    gate.resolve();
    assert.equal(await refused, "storage_failed");
    assert.equal(await end(other, "key"), "chat.error");
  });
});

describe("a run whose session cannot be opened", () => {
  it("ends with an error, and the next run works", async () => {
    const store = createMemoryStore();
    let isBroken = true;
    const create: Store["create"] = async (...given) => {
      if (isBroken) throw noRoom;
      return store.create(...given);
    };
    await using server = await gatewayWith(["Hello."], { store: { ...store, create } });
    const client = await server.client();
    const failed = await client.call("chat.send", { sessionKey: "s", message: "One" });
    assert.equal(await end(client, failed.runId), "chat.error");
    isBroken = false;
    const next = await client.call("chat.send", { sessionKey: "s", message: "Two" });
    assert.equal(await end(client, next.runId), "chat.final");
    const { sessionKey } = { sessionKey: "s" };
    const { messages } = await client.call("chat.history", { sessionKey });
    const sent = JSON.stringify(messages);
    assert.ok(sent.includes("One") && sent.includes("Two"), sent);
  });
});

describe("an ended run", () => {
  it("takes no message that was being stored when it ended: the message begins a new run", async () => {
    const [model, disk, reached] = [deferred(), deferred(), deferred()];
    const pending = createMemoryPending();
    const add = async (message: PendingMessage): Promise<void> => {
      if (message.kind === "steer") {
        reached.resolve();
        await disk.promise;
      }
      await pending.add(message);
    };
    const script = [() => model.promise.then(() => "One."), "Two."];
    await using server = await gatewayWith(script, { pending: { ...pending, add } });
    const client = await server.client();
    const first = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await eventually("the model is asked", () => server.model.calls.length === 1);
    const steered = client.call("chat.steer", {
      sessionKey: "s",
      message: "So",
      idempotencyKey: "so",
    });
    await within("the message is being kept", reached.promise);
    model.resolve();
    assert.equal(await end(client, first.runId), "chat.final");
    await idle(client);
    disk.resolve();
    const { runId, status } = await within("the message is answered", steered);
    assert.deepEqual([runId, status], ["so", "started"]);
    assert.equal(await end(client, "so"), "chat.final");
    await idle(client);
    assert.deepEqual(await pending.list(), []);
  });

  it("leaves no file for a late message that could not begin a run", async () => {
    const [model, disk, reached] = [deferred(), deferred(), deferred()];
    const pending = createMemoryPending();
    const add = async (message: PendingMessage): Promise<void> => {
      if (message.kind === "steer") {
        reached.resolve();
        await disk.promise;
      } else if (message.text === "So") throw noRoom;
      await pending.add(message);
    };
    const script = [() => model.promise.then(() => "One.")];
    await using server = await gatewayWith(script, { pending: { ...pending, add } });
    const client = await server.client();
    const first = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await eventually("the model is asked", () => server.model.calls.length === 1);
    const steered = client.refused("chat.steer", { sessionKey: "s", message: "So" });
    await within("the message is being kept", reached.promise);
    model.resolve();
    assert.equal(await end(client, first.runId), "chat.final");
    await idle(client);
    disk.resolve();
    assert.equal(await within("the message is answered", steered), "storage_failed");
    assert.deepEqual(await pending.list(), []);
  });

  it("is not stored again when its session gets another agent", async () => {
    const gate = deferred();
    const pending = createMemoryPending();
    const remove: typeof pending.remove = async (message) => {
      await pending.remove(message);
      await gate.promise;
    };
    await using server = await gatewayWith(["Hello."], {
      pending: { ...pending, remove },
      agents: () => [
        ...agents,
        { id: "writer", model: "scripted/scripted", description: "Writes" },
      ],
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    assert.equal(await end(client, runId), "chat.final");
    await client.call("sessions.patch", { sessionKey: "s", agentId: "writer" });
    gate.resolve();
    await idle(client);
    assert.deepEqual(await pending.list(), []);
  });
});

describe("a run that is stopped while one of its messages is being written", () => {
  it("leaves no pending file of that message, which is in the transcript", async () => {
    const { tool, release } = heldTool();
    const [reached, disk] = [deferred(), deferred()];
    const isIt = ({ type }: AnyEntry): boolean => type === "message";
    const store = withAppend(createMemoryStore(), async (append, entries) => {
      await append(entries);
      if (!entries.some(isIt) || !JSON.stringify(entries).includes("But so")) return;
      reached.resolve();
      await disk.promise;
    });
    const pending = createMemoryPending();
    const rules = { judge: () => ({ action: "allow" as const }), add: async () => {} };
    const script = [{ content: [scriptedToolCall("wait", {}, "1")] }, "never"];
    await using server = await gatewayWith(script, { store, pending, tools: () => [tool], rules });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await client.event("chat.tool_call", runId);
    const into = { sessionKey: "s", message: "But so", idempotencyKey: "so" };
    await client.call("chat.steer", into);
    release();
    await within("the message is being written", reached.promise);
    await client.call("chat.abort", { runId });
    disk.resolve();
    assert.equal(await end(client, runId), "chat.aborted");
    await idle(client);
    const { waiting, messages } = await client.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(waiting, []);
    assert.ok(JSON.stringify(messages).includes("But so"));
    assert.deepEqual(await pending.list(), []);
  });
});

describe("messages that an ended run left", () => {
  it("are listed once while each is stored as held", async () => {
    const [reached, disk] = [deferred(), deferred()];
    const pending = createMemoryPending();
    const add = async (message: PendingMessage): Promise<void> => {
      if (message.kind === "held" && message.id === "two") {
        reached.resolve();
        await disk.promise;
      }
      await pending.add(message);
    };
    const script = [{ content: [scriptedToolCall("wait", {}, "1")] }];
    await using server = await gatewayWith(script, {
      pending: { ...pending, add },
      tools: () => [heldTool().tool],
      rules: { judge: () => ({ action: "allow" as const }), add: async () => {} },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await client.event("chat.tool_call", runId);
    for (const idempotencyKey of ["one", "two"])
      await client.call("chat.steer", { sessionKey: "s", message: "So", idempotencyKey });
    await client.call("chat.abort", { runId });
    await within("the second message is being stored", reached.promise);
    const { waiting } = await client.call("chat.history", { sessionKey: "s" });
    const ids = waiting.map(({ messageId }) => messageId);
    disk.resolve();
    await idle(client);
    assert.deepEqual(ids.toSorted(), ["one", "two"]);
  });
});

describe("pending messages", () => {
  it("are listed in the order they arrived, whatever their file names", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bowline-pending-"));
    try {
      const pending = createPendingFolder(folder);
      const times = Array.from({ length: 12 }, (_, at) => (at * 7) % 12);
      for (const timestamp of times)
        await pending.add({
          id: `m${timestamp}`,
          kind: "send",
          sessionKey: "s",
          agentId: "assistant",
          text: "Hi",
          timestamp,
        });
      const found = (await pending.list()).map(({ timestamp }) => timestamp);
      assert.deepEqual(
        found,
        times.toSorted((a, b) => a - b),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
