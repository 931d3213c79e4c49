import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { createMemoryStore, type AnyEntry, type Store } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { createMemoryPending, type Pending } from "../../src/gateway/runs/pending.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { temporary } from "../command.ts";
import { gatewayWith, TestClient, token, wait, type TestOptions } from "./gateway.ts";
import { serveProcess } from "./processes.ts";

/** The disk of a server that is killed now, or before its session's log has the abort. */
async function leftOf(
  store: Store,
  pending: Pending,
  upTo: "abort" | "all" = "abort",
): Promise<{ readonly store: Store; readonly pending: Pending }> {
  const [copy, messages] = [createMemoryStore(), createMemoryPending()];
  for (const message of await pending.list()) await messages.add(message);
  const entries: AnyEntry[] = [];
  for await (const batch of store.read("s")) entries.push(...batch);
  const abort = upTo === "all" ? -1 : entries.findIndex(({ type }) => type === "abort");
  await (
    await copy.create(await store.load("s"), abort < 0 ? entries : entries.slice(0, abort))
  ).close();
  return { store: copy, pending: messages };
}

describe("an aborted run that was running", () => {
  /** Aborts the run when `when` resolves, and kills the server as soon as it has answered. */
  async function killed(
    when: (client: TestClient, runId: string) => Promise<unknown>,
    options: TestOptions = {},
  ): Promise<{ readonly runId: string; readonly store: Store; readonly pending: Pending }> {
    const [store, kept] = [createMemoryStore(), createMemoryPending()];
    const pending: Pending = { ...kept, remove: (name) => wait(500).then(() => kept.remove(name)) };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
      ...options,
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await when(client, runId);
    assert.deepEqual(await client.call("chat.abort", { runId }), {
      aborted: true,
      runIds: [runId],
    });
    return { runId, ...(await leftOf(store, kept)) };
  }

  const moments: Record<string, Parameters<typeof killed>> = {
    "in the middle of its answer": [(client, runId) => client.event("chat.delta", runId)],
    "before its session has an entry of it": [
      () => wait(30),
      { systemPrompt: () => wait(300).then(() => "Slow.") },
    ],
  };
  for (const [moment, given] of Object.entries(moments)) {
    it(`${moment} does not continue in the next process once the abort is acknowledged`, async () => {
      const { runId, ...left } = await killed(...given);
      await using next = await gatewayWith(["It went on."], left);
      const client = await next.client();
      await client.call("chat.subscribe", { sessionKey: "s", runId, seq: -1 });
      assert.equal((await client.end(runId)).event, "chat.aborted");
      while ((await left.pending.list()).length > 0) await wait(5);
      assert.equal(next.model.calls.length, 0);
      const { messages } = await client.call("chat.history", { sessionKey: "s" });
      assert.deepEqual(
        [messages[0]?.message.role, JSON.stringify(messages).includes("It went on")],
        ["user", false],
      );
    });
  }

  it("leaves a steering message for the next message, also when the server is killed", async () => {
    const { runId, ...left } = await killed(async (client, id) => {
      await client.event("chat.delta", id);
      await client.call("chat.steer", { sessionKey: "s", message: "turn left" });
    });
    await using next = await gatewayWith(["At last."], left);
    const client = await next.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId, seq: -1 });
    await client.end(runId);
    await client.end((await client.call("chat.send", { sessionKey: "s", message: "on" })).runId);
    const said = next.model.calls
      .at(-1)
      ?.context.messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
    assert.deepEqual(said, ["go", "turn left", "on"]);
  });

  it("holds a steering message also when the server is killed at the end of the run", async () => {
    const [store, kept] = [createMemoryStore(), createMemoryPending()];
    const pending: Pending = { ...kept, remove: () => new Promise(() => {}) }; // simulates the kill
    const server = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.delta", runId);
    await client.call("chat.steer", { sessionKey: "s", message: "turn left" });
    await client.call("chat.abort", { runId });
    await client.end(runId);
    await using next = await gatewayWith(["At last."], {
      store: (await leftOf(store, kept, "all")).store,
      pending: kept,
    });
    const other = await next.client();
    const { waiting } = await other.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(
      waiting.map(({ kind, text }) => [kind, text]),
      [["held", "turn left"]],
    );
    assert.equal(next.model.calls.length, 0);
    await server[Symbol.asyncDispose]();
  });

  it("stops when the disk fails, and the request reports an error", async () => {
    const pending = createMemoryPending();
    let isBroken = false;
    const broken: Pending = {
      ...pending,
      add: (message) => (isBroken ? Promise.reject(new Error("no disk")) : pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: broken,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.delta", runId);
    isBroken = true;
    assert.equal(await client.refused("chat.abort", { runId }), "internal");
    assert.equal((await client.end(runId)).event, "chat.aborted");
  });

  it("leaves no file when it ends before the abort is stored", async () => {
    const pending = createMemoryPending();
    const slow: Pending = {
      ...pending,
      add: (message) => wait(message.isAborted === true ? 200 : 0).then(() => pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(2000), "Next."], {
      pending: slow,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.delta", runId);
    const aborting = client.call("chat.abort", { sessionKey: "s" });
    await client.end(runId);
    assert.deepEqual((await aborting).runIds, [runId]);
    await client.end((await client.call("chat.send", { sessionKey: "s", message: "on" })).runId);
    while ((await pending.list()).some(({ id }) => id !== runId)) await wait(5);
    assert.deepEqual(await pending.list(), []);
  });

  it("is refused while the server is closing, because the next server would not know of the abort", async () => {
    const hanging = defineTool({
      name: "hang",
      description: "Hangs.",
      parameters: { type: "object", properties: {} } as const,
      execute: () => new Promise<string>(() => {}),
    });
    const call = { content: [scriptedToolCall("hang", {}, "one")] };
    const rules = await loadRules([{ action: "allow", tool: "hang" }]);
    await using server = await gatewayWith([call], { tools: () => [hanging], rules });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.tool_call", runId);
    const closing = server.gateway.close();
    assert.equal(await client.refused("chat.abort", { runId }), "busy");
    await closing;
  });

  it(
    "stays aborted when its server is killed at any time after the answer",
    { timeout: 300_000 },
    async () => {
      await using home = await temporary();
      const env = { BOWLINE_HOME: home.path, BOWLINE_TOKEN: token };
      let server = await serveProcess(env);
      const port = Number(new URL(server.url).port);
      for (let round = 0; round < 3; round++) {
        const client = await TestClient.enter(server.url.replace("http", "ws"), token, "all");
        const message = `Read the file SOUL.md and count its lines. (${round})`;
        const { runId } = await client.call("chat.send", { sessionKey: "s", message });
        if (round > 0) await client.event("chat.delta", runId);
        const { runIds } = await client.call("chat.abort", { runId });
        await server.kill("SIGKILL");
        server = await serveProcess(env, { port });
        const next = await TestClient.enter(server.url.replace("http", "ws"), token, "all");
        await next.call("chat.subscribe", { sessionKey: "s", runId, seq: -1 });
        const { event } = await next.end(runId);
        assert.deepEqual([runIds, event], [[runId], "chat.aborted"], String(round));
        next.socket.terminate();
      }
      await server.kill("SIGTERM");
    },
  );
});

describe("an aborted run that was queued", () => {
  it("is removed from the disk before the abort is reported", async () => {
    const pending = createMemoryPending();
    const slow: Pending = {
      ...pending,
      remove: (name) => wait(100).then(() => pending.remove(name)),
    };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: slow,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const { runId, status } = await client.call("chat.send", {
      sessionKey: "s",
      message: "second",
    });
    assert.equal(status, "queued");
    const kept = async (): Promise<boolean> =>
      (await pending.list()).some(({ id }) => id === runId);
    const told = client.end(runId).then(kept);
    assert.deepEqual(await client.call("chat.abort", { runId }), {
      aborted: true,
      runIds: [runId],
    });
    assert.deepEqual([await kept(), await told], [false, false]);
  });

  it("is removed also when the abort comes while its message is being stored", async () => {
    const pending = createMemoryPending();
    const slow: Pending = {
      ...pending,
      add: (message) => wait(message.text === "second" ? 100 : 0).then(() => pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: slow,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const sending = client.call("chat.send", {
      sessionKey: "s",
      message: "second",
      idempotencyKey: "the-key",
    });
    await wait(30);
    assert.deepEqual((await client.call("chat.abort", { runId: "the-key" })).runIds, ["the-key"]);
    await sending;
    assert.equal((await client.end("the-key")).event, "chat.aborted");
    assert.deepEqual(
      (await pending.list()).map(({ text }) => text),
      ["first"],
    );
  });

  it("ends also when the disk fails, and the request reports an error", async () => {
    const pending = createMemoryPending();
    const broken: Pending = { ...pending, remove: () => Promise.reject(new Error("no disk")) };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: broken,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "second" });
    assert.equal(await client.refused("chat.abort", { runId }), "internal");
    assert.equal((await client.end(runId)).event, "chat.aborted");
  });

  it("is reported to its sender after the answer, also when aborted while its message is being stored", async () => {
    const pending = createMemoryPending();
    let keep = (): void => {};
    const kept = new Promise<void>((resolve) => (keep = resolve));
    const slow: Pending = {
      ...pending,
      add: (message) =>
        (message.text === "second" ? kept : Promise.resolve()).then(() => pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: slow,
      pace: { delayMs: 5 },
    });
    const [client, other] = [await server.client(), await server.client()];
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const sending = other.call("chat.send", {
      sessionKey: "s",
      message: "second",
      idempotencyKey: "the-key",
    });
    while ((await client.call("sessions.get", { sessionKey: "s" })).session.runs.length < 2);
    const aborting = client.call("chat.abort", { runId: "the-key" });
    await client.call("health.check", {}); // the abort has arrived by then
    keep();
    await Promise.all([sending, aborting]);
    assert.equal((await other.end("the-key")).event, "chat.aborted");
    const [first] = other.frames.filter(
      ({ id, data }) => id !== undefined || data?.runId === "the-key",
    );
    assert.equal(first?.id, "test-1");
  });

  it("ends once when it is aborted while storing its message fails", async () => {
    const pending = createMemoryPending();
    let fail: (error: Error) => void = () => {};
    const kept = new Promise<void>((_, reject) => (fail = reject));
    const broken: Pending = {
      ...pending,
      add: (message) => (message.text === "second" ? kept : pending.add(message)),
    };
    await using server = await gatewayWith(["word ".repeat(2000)], {
      pending: broken,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "first" });
    const sending = client.refused("chat.send", {
      sessionKey: "s",
      message: "second",
      idempotencyKey: "the-key",
    });
    while ((await client.call("sessions.get", { sessionKey: "s" })).session.runs.length < 2);
    const aborting = client.call("chat.abort", { runId: "the-key" });
    await client.call("health.check", {});
    fail(new Error("no disk"));
    assert.equal(await sending, "internal");
    await aborting;
    const ends = client
      .ofRun("the-key")
      .filter(({ event = "" }) => /^chat\.(?:final|error|aborted)$/.test(event));
    assert.deepEqual(
      ends.map(({ event }) => event),
      ["chat.error"],
    );
  });
});
