/** Closing a server while an operation cannot finish. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, type SessionWriter, type Store } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import type { Rules } from "../../src/policy/rules.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith } from "./gateway.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { within } from "../../../../test/support/within.ts";

const allow: Rules = { judge: () => ({ action: "allow" }), add: async () => {} };
const call = { content: [scriptedToolCall("wait", {}, "w")] };

/** A store whose sessions close with an error, as if their last entries were not written. */
function unwritable(store: Store): Store {
  const broken = (writer: SessionWriter): SessionWriter =>
    Object.create(writer, {
      append: {
        value: (entries: Parameters<SessionWriter["append"]>[0]) => writer.append(entries),
      },
      close: {
        value: async () => {
          await writer.close();
          throw new BowlineError("storage_failed", "No room.");
        },
      },
    }) as SessionWriter;
  return {
    ...store,
    create: async (...asked) => broken(await store.create(...asked)),
    open: async (id) => broken(await store.open(id)),
  };
}

describe("a closing server", () => {
  it("ends its runs and frees its port also when a session's last entries cannot be written", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const ended = Promise.withResolvers<void>();
    const first = await gatewayWith(["word ".repeat(2000)], {
      store: unwritable(store),
      pending,
      pace: { delayMs: 5 },
    });
    const { port } = first.gateway;
    const before = await first.client();
    before.socket.once("close", () => ended.resolve());
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    await before.event("chat.delta", runId);
    await first.gateway.close();
    await ended.promise;
    await using second = await gatewayWith(["Done."], { store, pending, port });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId });
    assert.equal((await client.end(runId)).event, "chat.final");
  });

  it("calls no model for a run whose session opens meanwhile, and the next server does", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const [opening, opened] = [deferred(), deferred()];
    const slow: Store = {
      ...store,
      async create(...asked) {
        opening.resolve();
        await opened.promise;
        return store.create(...asked);
      },
    };
    const first = await gatewayWith(["Too late."], { store: slow, pending });
    const before = await first.client();
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    await within("the run opens its session", opening.promise);
    const closing = first.gateway.close();
    await before.event("shutdown");
    opened.resolve();
    await closing;
    assert.equal(first.model.calls.length, 0);
    await using second = await gatewayWith(["Done."], { store, pending });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId });
    assert.equal((await client.end(runId)).event, "chat.final");
  });

  it("rejects a request that waits for a session to become idle", async () => {
    const server = await gatewayWith([call], { tools: () => [heldTool().tool], rules: allow });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey: "run" });
    await client.event("chat.tool_call", "run");
    const refused = client.refused("sessions.delete", { sessionKey: "s" });
    await client.call("health.check", {}); // the request has arrived by then
    const closing = server.gateway.close();
    assert.equal(await refused, "busy");
    await closing;
  });
});
