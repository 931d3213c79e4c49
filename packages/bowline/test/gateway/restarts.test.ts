/** Runs that kill their server each time must not be resumed endlessly. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StreamOptions } from "@bowline/core";
import { createMemoryStore, createSession, openSession } from "@bowline/core/session";
import {
  createMemoryPending,
  type Pending,
  type PendingMessage,
} from "../../src/gateway/runs/pending.ts";
import { within } from "../../../../test/support/within.ts";
import { gatewayWith } from "./gateway.ts";

const left: PendingMessage = {
  id: "the-run",
  kind: "send",
  sessionKey: "s",
  agentId: "assistant",
  text: "go",
  timestamp: 1,
};
const died = /^The server died 4 times while this run went on/;

/** A run that is unfinished in its session, with its message still pending. */
async function begun() {
  const [store, pending] = [createMemoryStore(), createMemoryPending()];
  const session = await createSession(store, { id: "s" });
  const model = { provider: "scripted", model: "scripted" };
  await session.append({ type: "run_start", runId: "the-run", model });
  const message = { role: "user", content: "go", timestamp: 1 } as const;
  await session.append({ type: "message", runId: "the-run", message });
  await session.close();
  await pending.add(left);
  return { store, pending };
}

/** An answer that ends only with the run's abort, so that a shutdown does not wait for it. */
const neverEnds = ({ signal }: StreamOptions): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));

/** Runs a server that dies during the run. Only what was written before stays on the disk. */
async function die({
  store,
  pending,
}: {
  store: ReturnType<typeof createMemoryStore>;
  pending: Pending;
}) {
  const seen = Promise.withResolvers<void>();
  // Drops writes after the death of the process.
  let isDead = false;
  const mortal: Pending = {
    ...pending,
    add: async (message) => {
      if (!isDead) await pending.add(message);
    },
    remove: async (message) => {
      if (!isDead) await pending.remove(message);
    },
  };
  const script = [
    (_: unknown, options: StreamOptions) => {
      seen.resolve();
      return neverEnds(options);
    },
  ];
  await using server = await gatewayWith(script, { store, pending: mortal });
  await Promise.race([seen.promise, server.client().then((client) => client.end("the-run"))]);
  isDead = true;
}

describe("a run whose server dies repeatedly", () => {
  it("is resumed three times, and then ends with an error, also in its session", async () => {
    const kept = await begun();
    for (let starts = 1; starts <= 3; starts++) {
      await die(kept);
      assert.deepEqual(
        (await kept.pending.list()).map(({ restarts }) => restarts),
        [starts],
      );
    }
    {
      await using server = await gatewayWith(["Never asked."], kept);
      const client = await server.client();
      await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
      const { event, data } = await client.end("the-run");
      assert.equal(event, "chat.error");
      assert.match(String(data?.message), died);
      assert.equal(server.model.calls.length, 0);
      while ((await client.call("health.check", {})).runs > 0);
      assert.deepEqual(await kept.pending.list(), []);
    }
    const { run } = await (await openSession(kept.store, "s", { readOnly: true })).state();
    assert.equal(run?.reason, "error");
    await using server = await gatewayWith(["Yes."], kept);
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    assert.match(String((await client.end("the-run")).data?.message), died);
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "And now?" });
    assert.equal((await client.end(runId)).event, "chat.final");
  });

  it("is held for the next message when the session does not have its message yet", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    await pending.add({ ...left, restarts: 3 });
    await using server = await gatewayWith(["Yes."], { store, pending });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    assert.match(String((await client.end("the-run")).data?.message), died);
    while ((await client.call("health.check", {})).runs > 0);
    const { waiting } = await client.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(
      waiting.map(({ messageId, kind }) => [messageId, kind]),
      [["the-run", "held"]],
    );
  });

  it("has no count in the server that accepted it, also when that shuts down", async () => {
    const pending = createMemoryPending();
    const seen = Promise.withResolvers<void>();
    const hasCount: boolean[][] = [];
    const note = async (): Promise<void> => {
      const stored = await pending.list();
      hasCount.push(stored.map((message) => "restarts" in message));
    };
    const script = [
      async (_: unknown, options: StreamOptions) => {
        await note();
        seen.resolve();
        return neverEnds(options);
      },
    ];
    {
      await using server = await gatewayWith(script, { pending });
      const client = await server.client();
      await client.call("chat.send", { sessionKey: "s", message: "go" });
      await within("the model is called", seen.promise);
    }
    await note();
    assert.deepEqual(hasCount, [[false], [false]]);
  });

  it("is resumed after any number of orderly shutdowns", async () => {
    const kept = await begun();
    for (let starts = 0; starts < 6; starts++) {
      const seen = Promise.withResolvers<void>();
      const script = [(_: unknown, options: StreamOptions) => (seen.resolve(), neverEnds(options))];
      const server = await gatewayWith(script, kept);
      await seen.promise;
      await server[Symbol.asyncDispose]();
      assert.deepEqual(
        (await kept.pending.list()).map(({ restarts }) => restarts),
        [0],
      );
    }
    await using server = await gatewayWith(["At last."], kept);
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    assert.equal((await client.end("the-run")).event, "chat.final");
  });
});
