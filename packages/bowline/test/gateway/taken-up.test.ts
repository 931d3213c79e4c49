import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { systemClock } from "@bowline/core";
import type { Message } from "@bowline/core";
import { createMemoryStore, createSession, type Store } from "@bowline/core/session";
import { freePort } from "../../../../test/support/free-ports.ts";
import {
  createMemoryPending,
  createPendingFolder,
  type PendingMessage,
} from "../../src/gateway/runs/pending.ts";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import { temporary } from "../command.ts";
import { closed, gatewayWith, TestClient, token, wait } from "./gateway.ts";

const left: PendingMessage = {
  id: "the-run",
  kind: "send",
  sessionKey: "s",
  agentId: "assistant",
  text: "go",
  timestamp: 1,
};

/** Connects to a server that is about to listen. */
async function knocked(port: number): Promise<WebSocket> {
  for (;;) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    const isOpen = await once(socket, "open").then(
      () => true,
      () => false,
    );
    if (isOpen) return socket;
    await wait(5);
  }
}

describe("a message accepted by a killed server", () => {
  it("is loaded before any client is let in, so a repeated send starts nothing", async () => {
    const pending = createMemoryPending();
    await pending.add(left);
    const [read, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = { ...pending, list: () => read.promise.then(() => pending.list()) };
    const port = await freePort();
    const starting = gatewayWith([() => answered.promise.then(() => "Once."), "Twice!"], {
      pending: slow,
      port,
    });
    try {
      (await knocked(port)).terminate(); // the server listens
      const entering = TestClient.enter(`ws://127.0.0.1:${port}`, token, "all");
      let isIn = false;
      void entering.then(() => (isIn = true));
      // A client that connected later gets a pong. By now the earlier client would have been let
      // in.
      const later = await knocked(port);
      later.ping();
      await once(later, "pong");
      assert.equal(isIn, false);
      read.resolve();
      const client = await entering;
      later.terminate();
      const { status } = await client.call("chat.send", {
        sessionKey: "s",
        message: "go",
        idempotencyKey: "the-run",
      });
      assert.equal(status, "in_flight");
      answered.resolve();
      assert.equal((await client.end("the-run")).event, "chat.final");
      await wait(50);
      assert.equal((await starting).model.calls.length, 1);
      client.socket.terminate();
    } finally {
      read.resolve();
      answered.resolve();
      await (await starting)[Symbol.asyncDispose]();
    }
  });

  it("is answered also when only the start of its run was stored, and the next server is stopped as well", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const session = await createSession(store, { id: "s" });
    const model = { provider: "scripted", model: "scripted" };
    await session.append({ type: "run_start", runId: "the-run", model });
    await session.close();
    await pending.add(left);
    const first = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const before = await first.client();
    await before.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    await before.until(({ event }) => event === "chat.delta" || event === "chat.snapshot");
    await first.gateway.close();
    await using second = await gatewayWith(["At last."], { store, pending });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    assert.equal((await client.end("the-run")).event, "chat.final");
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    assert.equal(messages.filter(({ message }) => message.role === "user").length, 1);
  });

  for (const isEnded of [false, true]) {
    const when = isEnded ? ", and the next is killed when it has noted that" : "";
    it(`is in its run also when the run had only a held message${when}`, async () => {
      const [store, pending] = [createMemoryStore(), createMemoryPending()];
      const session = await createSession(store, { id: "s" });
      const model = { provider: "scripted", model: "scripted" };
      const held = { role: "user" as const, content: "held", timestamp: 0 };
      await session.append({ type: "run_start", runId: "the-run", model });
      await session.append({ type: "message", runId: "the-run", message: held });
      if (isEnded)
        await session.append({
          type: "run_end",
          runId: "the-run",
          reason: "interrupted",
          usage: {},
        });
      await session.close();
      await pending.add(left);
      await using server = await gatewayWith(["Yes."], { store, pending });
      const client = await server.client();
      await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: 1 });
      const end = await client.end("the-run");
      assert.equal(end.event, "chat.final");
      assert.ok((end.data?.seq ?? 0) > 1_000_000, "numbers that were given are not given again");
      const said = server.model.calls.at(-1)?.context.messages.map(({ content }) => content);
      assert.deepEqual(said, ["held", "go"]);
    });
  }

  it("has a run that continues its sequence numbers at once, also while it is queued and then stopped", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const long = "word ".repeat(400);
    const first = await gatewayWith([long, long], { store, pending, pace: { delayMs: 5 } });
    const before = await first.client();
    const runs: { runId: string; sessionKey: string }[] = [];
    for (const sessionKey of ["a", "b"]) {
      const { runId } = await before.call("chat.send", { sessionKey, message: "go" });
      await before.until(
        ({ event, data }) =>
          event === "chat.delta" && data !== undefined && "runId" in data && data.runId === runId,
      );
      runs.push({ runId, sessionKey });
    }
    await first.gateway.close();
    await using second = await gatewayWith([long, long], {
      store,
      pending,
      limits: { maxRuns: 1 },
      pace: { delayMs: 5 },
    });
    const client = await second.client();
    const states = new Map<string, string>();
    for (const run of runs) {
      const known = await client.call("chat.subscribe", { ...run, seq: 5 });
      for (const { runId, state } of known.runs) states.set(runId, state);
    }
    const waiting = runs.find(({ runId }) => states.get(runId) === "queued");
    assert.ok(waiting, [...states].join(" "));
    assert.deepEqual((await client.call("chat.abort", { runId: waiting.runId })).runIds, [
      waiting.runId,
    ]);
    const { event, data } = await client.end(waiting.runId);
    assert.equal(event, "chat.aborted");
    assert.ok(data !== undefined && "seq" in data && data.seq > 1_000_000, JSON.stringify(data));
  });

  it("gets one snapshot of its run, however long, with a limited number of reads", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const session = await createSession(store, { id: "s" });
    await session.append({
      type: "run_start",
      runId: "the-run",
      model: { provider: "scripted", model: "scripted" },
    });
    const about = {
      api: "scripted",
      provider: "scripted",
      model: "scripted",
      usage: {},
      timestamp: 2,
    };
    const add = (message: Message): Promise<unknown> =>
      session.append({ type: "message", runId: "the-run", message });
    await add({ role: "user", content: "go", timestamp: 1 });
    for (let turn = 0; turn < 1100; turn++) {
      const call = { type: "toolCall", id: `c${turn}`, name: "look", arguments: { turn } } as const;
      const names = { toolCallId: call.id, toolName: "look" };
      await add({ role: "assistant", content: [call], stopReason: "toolUse", ...about });
      await add({ role: "toolResult", content: [], isError: false, timestamp: 3, ...names });
    }
    await session.close();
    await pending.add(left);
    let entries = 0;
    const counting: Store = {
      ...store,
      async *read(...asked) {
        for await (const batch of store.read(...asked)) {
          entries += batch.length;
          yield batch;
        }
      },
    };
    await using server = await gatewayWith(["Done."], {
      store: counting,
      pending,
      limits: { maxTurns: 2000 },
      pace: { delayMs: 30 },
    });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: 5 });
    assert.equal((await client.end("the-run")).event, "chat.final");
    assert.deepEqual(
      server.model.calls.map(({ context }) => context.messages.length),
      [2201],
    );
    const users = server.model.calls[0]?.context.messages.filter(({ role }) => role === "user");
    assert.equal(users?.length, 1);
    const snapshots = client.ofRun("the-run").filter(({ event }) => event === "chat.snapshot");
    assert.ok(JSON.stringify(snapshots.at(-1)?.data).includes('"go"'));
    // The session is read four times: to resume the run, for the agent's model, for the run's
    // state, and for the model's context.
    assert.ok(entries < 4.5 * 2202, `${entries} entries were read`);
  });

  it("is distinguished from another with the same text at the same time", async () => {
    const pending = createMemoryPending();
    const times: number[] = [];
    const noted = {
      ...pending,
      add: (message: PendingMessage) => (times.push(message.timestamp), pending.add(message)),
    };
    const clock = { ...systemClock, now: () => 1000 };
    await using server = await gatewayWith(["word ".repeat(20)], {
      pending: noted,
      clock,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    server.model.push("Again.", "And again.");
    for (let count = 0; count < 3; count++)
      await client.call("chat.steer", { sessionKey: "s", message: "again" });
    await client.end(runId);
    assert.equal(new Set(times).size, 4, times.join(" "));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  });

  it("is recognised by its key also when it steered another run", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const first = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const before = await first.client();
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    const steering = { sessionKey: "s", message: "and fast", idempotencyKey: "the-key" };
    assert.equal((await before.call("chat.steer", steering)).status, "steered");
    await first.gateway.close();
    const asked = Promise.withResolvers<void>();
    await using second = await gatewayWith([() => asked.promise.then(() => "One."), "Two."], {
      store,
      pending,
    });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId, seq: -1 });
    const again = await client.call("chat.steer", steering);
    assert.deepEqual([again.runId, again.status], [runId, "in_flight"]);
    asked.resolve();
    await client.end(runId);
    assert.equal((await client.call("chat.steer", steering)).status, "finished");
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    assert.equal(messages.filter(({ message }) => message.role === "user").length, 2);
  });

  it("stays on the disk while its agent is missing, and runs when the agent is back", async () => {
    const pending = createMemoryPending();
    await pending.add(left);
    const without = await gatewayWith([], { pending, agents: () => [] });
    await without[Symbol.asyncDispose]();
    assert.deepEqual(await pending.list(), [left]);
    await using server = await gatewayWith(["Here again."], { pending, pace: { delayMs: 20 } });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "the-run", seq: -1 });
    assert.equal((await client.end("the-run")).event, "chat.final");
    while ((await pending.list()).length > 0) await wait(5);
  });

  it("has a separate file for any id", async () => {
    await using home = await temporary();
    const pending = createPendingFolder(home.path);
    const ids = ["\ud800", "\ud801", "\ufffd", "../x", ""];
    for (const id of ids) await pending.add({ ...left, id });
    assert.equal((await readdir(home.path)).length, ids.length);
    assert.deepEqual((await pending.list()).map(({ id }) => id).toSorted(), ids.toSorted());
  });
});

it("a server that cannot read pending messages fails, frees the port, and closes waiting connections", async () => {
  const port = await freePort();
  const read = Promise.withResolvers<never>();
  const list = (): Promise<never> => read.promise;
  const starting = gatewayWith([], { pending: { ...createMemoryPending(), list }, port });
  const refused = assert.rejects(starting, /no disk/);
  const early = await knocked(port);
  early.send(JSON.stringify({ type: "auth", token }));
  const asked = fetch(`http://127.0.0.1:${port}/health`);
  (await knocked(port)).terminate(); // everything sent before has arrived
  read.reject(new Error("no disk"));
  await Promise.all([
    refused,
    assert.rejects(asked),
    closed(early).then((code) => assert.equal(code, 1011)),
  ]);
  await using server = await gatewayWith([], { port });
  assert.equal((await server.client()).welcome.ok, true);
});

it("a resumed run first sends a snapshot to clients that have seen more", () => {
  const published: string[] = [];
  const publish = ({ json }: { readonly json: string }): void => void published.push(json);
  const log = new RunLog({ runId: "r", sessionKey: "s", maxEvents: 100, maxLength: 1e6, publish });
  log.state = "running";
  log.continueFrom(5_000_000, [{ type: "user", text: "go" }]);
  log.show();
  log.append("chat.delta", { turn: 0, text: "From the beginning." });
  const [snapshot, delta] = published.map(
    (json) => JSON.parse(json) as { event: string; data: { seq: number } },
  );
  assert.equal(snapshot?.event, "chat.snapshot");
  assert.deepEqual([snapshot?.data.seq, delta?.data.seq], [4_999_999, 5_000_000]);
});

it("a session with a long queue does not delay another session's run", async () => {
  await using server = await gatewayWith(["a1", "one", "two", "three"], {
    limits: { maxRuns: 1 },
    pace: { deltaLength: 1, delayMs: 10 },
  });
  const client = await server.client();
  const runs: string[] = [];
  for (const sessionKey of ["a", "a", "a", "b"])
    runs.push((await client.call("chat.send", { sessionKey, message: "go" })).runId);
  for (const runId of runs) await client.end(runId);
  const ends = client.frames.flatMap(({ event, data }) =>
    event === "chat.final" ? [runs.indexOf(data?.runId ?? "")] : [],
  );
  assert.deepEqual(ends, [0, 3, 1, 2]);
});
