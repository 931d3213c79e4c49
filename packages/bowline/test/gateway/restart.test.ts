import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore, type AnyEntry, type Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { WebSocket } from "ws";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import {
  createMemoryPending,
  createPendingFolder,
  type Pending,
} from "../../src/gateway/runs/pending.ts";
import { temporary } from "../command.ts";
import { gatewayWith, wait, type TestClient, type TestGateway } from "./gateway.ts";
import { serveProcess } from "./processes.ts";

const task = "Read the file SOUL.md and count its lines.";

describe("a server that is killed during a run", () => {
  it(
    "resumes the run after a restart, and its clients see one end",
    { timeout: 300_000 },
    async () => {
      await using home = await temporary();
      const env = { BOWLINE_HOME: home.path, BOWLINE_TOKEN: "a-token-for-this-test" };
      await using first = await serveProcess(env);
      const port = Number(new URL(first.url).port);
      const client = new GatewayClient({
        url: first.url,
        token: first.token,
        WebSocket,
        backoff: { firstMs: 50, maxMs: 200 },
      });
      const ends: string[] = [];
      const seen = new Map<string, number>();
      client.onEvent(({ event, data }) => {
        if (!("seq" in data)) return;
        const last = seen.get(data.runId) ?? -1;
        assert.ok(
          event === "chat.snapshot" ? data.seq >= last : data.seq > last,
          `${event} ${data.seq} after ${last}`,
        );
        seen.set(data.runId, data.seq);
        if (/^chat\.(?:final|error|aborted)$/.test(event)) ends.push(event);
      });
      const run = await client.send({ sessionKey: "s", message: task });
      const queued = await client.send({ sessionKey: "s", message: "What is 2+2?" });
      for await (const { event } of run) if (event === "chat.delta") break;
      await first.kill("SIGKILL");
      await using second = await serveProcess(env, { port });
      const [{ end, text }, other] = await Promise.all([run.result(), queued.result()]);
      assert.equal(end.event, "chat.final", JSON.stringify(end));
      assert.match(text, /\d+ lines/);
      assert.equal(other.end.event, "chat.final");
      assert.match(other.text, /4/);
      assert.deepEqual(ends, ["chat.final", "chat.final"]);
      const { messages } = await client.request("chat.history", { sessionKey: "s" });
      const said = messages.map(({ message }) => message).filter(({ role }) => role === "user");
      assert.equal(said.length, 2);
      client.close();
      const pending = join(home.path, "gateway", "pending");
      for (let left = 100; left > 0 && (await readdir(pending)).length > 0; left--) await wait(20); // the end is sent before the file is removed
      assert.deepEqual(await readdir(pending), []);
      await second.kill("SIGTERM");
    },
  );
});

describe("messages into a run whose server is killed", () => {
  it(
    "are in the transcript once each, whenever the kill happens",
    { timeout: 300_000 },
    async () => {
      await using home = await temporary();
      const env = { BOWLINE_HOME: home.path, BOWLINE_TOKEN: "a-token-for-this-test" };
      let server = await serveProcess(env);
      const port = Number(new URL(server.url).port);
      const client = new GatewayClient({
        url: server.url,
        token: server.token,
        WebSocket,
        backoff: { firstMs: 20, maxMs: 100 },
      });
      const sent: string[] = [];
      for (let round = 0; round < 4; round++) {
        const run = await client.send({ sessionKey: "s", message: `${task} (${round})` });
        sent.push(`${task} (${round})`);
        for await (const { event } of run) if (event === "chat.delta") break;
        for (const method of ["chat.steer", "chat.followUp"] as const) {
          const message = `What is ${round}+${method.length}?`;
          await client.request(method, {
            sessionKey: "s",
            message,
            idempotencyKey: `${round} ${method}`,
          });
          sent.push(message);
        }
        await wait(round * 15);
        await server.kill("SIGKILL");
        server = await serveProcess(env, { port });
        assert.equal((await run.result()).end.event, "chat.final");
      }
      const pending = join(home.path, "gateway", "pending");
      while ((await readdir(pending)).length > 0) await wait(20);
      const { messages } = await client.request("chat.history", { sessionKey: "s", limit: 500 });
      const said = messages.flatMap(({ message }) =>
        message.role === "user" ? [(message as unknown as { content: string }).content] : [],
      );
      assert.deepEqual(said.toSorted(), sent.toSorted());
      client.close();
      await server.kill("SIGTERM");
    },
  );
});

describe("a server that is stopped", () => {
  it("sends a shutdown event, leaves the run open, and the next server finishes it", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const first = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const before = await first.client();
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    await before.until(({ data }) => data?.seq === 4);
    await first.gateway.close("for a test");
    assert.deepEqual(before.frames.at(-1), { event: "shutdown", data: { reason: "for a test" } });

    await using second = await gatewayWith(["From the beginning."], { store, pending });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId, seq: 4 });
    assert.equal((await client.end(runId)).event, "chat.final");
    const users = second.model.calls[0]?.context.messages.filter(({ role }) => role === "user");
    assert.equal(users?.length, 1);
    assert.deepEqual(await pending.list(), []);
  });
});

describe("a steering message", () => {
  /** Steers a run, and closes its server before the run takes the messages. */
  async function stopped(store: Store, pending: Pending): Promise<string> {
    const server = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.delta", runId);
    for (const [method, message] of [
      ["chat.steer", "turn left"],
      ["chat.followUp", "and then?"],
    ] as const) {
      assert.equal((await client.call(method, { sessionKey: "s", message })).status, "steered");
    }
    await server.gateway.close();
    return runId;
  }

  const users = (server: TestGateway): unknown[] =>
    (server.model.calls.at(-1)?.context.messages ?? []).flatMap((message) =>
      message.role === "user" ? [message.content] : [],
    );

  for (const lost of ["nothing", "the log's entry", "the server's note"]) {
    it(`is used once after a restart, when ${lost} was lost`, async () => {
      const [store, pending] = [createMemoryStore(), createMemoryPending()];
      const runId = await stopped(store, pending);
      const kept = await pending.list();
      assert.deepEqual(
        kept.map(({ kind }) => kind),
        ["send", "steer", "followUp"],
      );
      if (lost === "the server's note")
        for (const one of kept) if (one.kind !== "send") await pending.remove(one);
      const source = lost === "the log's entry" ? await withoutQueues(store) : store;
      await using server = await gatewayWith(["One.", "Two."], { store: source, pending });
      const client = await server.client();
      await client.call("chat.subscribe", { sessionKey: "s", runId });
      assert.equal((await client.end(runId)).event, "chat.final");
      while ((await pending.list()).length > 0) await wait(5);
      assert.deepEqual(users(server), ["go", "turn left", "and then?"]);
    });
  }

  it("of an aborted run is used once, with the next message", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    await using server = await gatewayWith(["word ".repeat(2000), "One."], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.delta", runId);
    await client.call("chat.steer", { sessionKey: "s", message: "turn left" });
    await client.call("chat.abort", { sessionKey: "s" });
    await client.end(runId);
    const next = await client.call("chat.send", { sessionKey: "s", message: "on" });
    assert.equal((await client.end(next.runId)).event, "chat.final");
    assert.deepEqual(users(server), ["go", "turn left", "on"]);
  });

  async function withoutQueues(store: Store): Promise<Store> {
    const copy = createMemoryStore();
    const entries: AnyEntry[] = [];
    for await (const batch of store.read("s"))
      entries.push(...batch.filter(({ type }) => type !== "queued"));
    const renumbered = entries.map((entry, seq) => ({
      ...entry,
      seq,
      parentId: entries[seq - 1]?.id ?? null,
    }));
    await (await copy.create(await store.load("s"), renumbered)).close();
    return copy;
  }
});

describe("a run that is interrupted repeatedly", () => {
  it("has increasing sequence numbers across restarts, and one end", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const seqs: number[] = [];
    let runId = "";
    for (let life = 0; life < 3; life++) {
      const server = await gatewayWith(["word ".repeat(2000)], {
        store,
        pending,
        pace: { delayMs: 3 },
      });
      const client = await server.client();
      if (life === 0)
        ({ runId } = await client.call("chat.send", { sessionKey: "s", message: "go" }));
      else await client.call("chat.subscribe", { sessionKey: "s", runId, seq: seqs.at(-1) ?? -1 });
      await client.until(
        () => client.ofRun(runId).filter(({ event }) => event === "chat.delta").length >= 5,
      );
      const own = client
        .ofRun(runId)
        .flatMap(({ event, data }) => (event === undefined ? [] : [data?.seq as number]));
      assert.ok(
        life === 0 || (own[0] as number) > (seqs.at(-1) as number),
        `${own[0]} after ${seqs.at(-1)}`,
      );
      seqs.push(...own);
      await server.gateway.close();
    }
    await using last = await gatewayWith(["At last."], { store, pending });
    const client = await last.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId, seq: seqs.at(-1) ?? -1 });
    const { seq } = (await client.end(runId)).data as { seq: number };
    assert.ok(seq > (seqs.at(-1) as number));
  });
});

describe("an accepted message", () => {
  it("is on the disk before the client is told, and removed when its run is done", async () => {
    await using home = await temporary();
    const folder = join(home.path, "pending");
    const looked = Promise.withResolvers<void>();
    await using server = await gatewayWith([() => looked.promise.then(() => "Done.")], {
      store: createJsonlStore(join(home.path, "sessions")),
      pending: createPendingFolder(folder),
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "../../evil", message: "go" });
    const names = await readdir(folder);
    assert.equal(names.length, 1);
    assert.equal(
      (JSON.parse(await readFile(join(folder, names[0] ?? ""), "utf8")) as { id: string }).id,
      runId,
    );
    looked.resolve();
    await client.end(runId);
    while ((await readdir(folder)).length > 0) await wait(5);
    assert.deepEqual((await readdir(home.path)).toSorted(), ["pending", "sessions"]);
  });
});

it("reports a session locked by another process without waiting", async () => {
  const store = createMemoryStore();
  const writer = await store.create({ id: "s", createdAt: 0 });
  await using server = await gatewayWith(["Hi."], { store });
  const client: TestClient = await server.client();
  const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
  const { error } = await client.event("chat.error", runId);
  assert.deepEqual([error.code, error.retryable], ["session_locked", true]);
  await writer.close();
  const next = await client.call("chat.send", { sessionKey: "s", message: "go" });
  assert.equal((await client.end(next.runId)).event, "chat.final");
});
