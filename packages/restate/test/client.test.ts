/** The client and the watchdog against a server of HTTP. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { createRestateClient, createRestateAdmin } from "../src/index.ts";
import { createFakeStore, type FakeStore } from "./fake-store.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

describe("the client of runs on Restate", () => {
  let server: Server;
  let url: string;
  let store: FakeStore;
  let seen: Seen[] = [];
  let answers: ((seen: Seen) => { status?: number; body?: unknown } | undefined)[] = [];

  before(async () => {
    server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      request.on("end", () => {
        const { method = "", url: path = "", headers } = request;
        const key = headers["idempotency-key"] as string | undefined;
        const one = { method, path, key, body: text === "" ? undefined : JSON.parse(text) };
        seen.push(one);
        const answer = answers.shift()?.(one);
        if (answer === undefined) return void request.socket.destroy();
        response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
        response.end(JSON.stringify(answer.body ?? null));
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    [seen, answers, store] = [[], [], createFakeStore()];
  });
  const sent = () => ({ body: { invocationId: "inv_1", status: "Accepted" } });
  const client = () => createRestateClient({ ingress: `${url}/`, store });

  it("submits a message under its id, with the time of a text", async () => {
    answers = [sent];
    const metadata = { workspace: "/w" };
    const given = { messageId: "ä\n", message: "hello", agent: "a", runId: "r", metadata };
    const place = await client().submit("s/1", given);
    assert.deepEqual(place, { state: "accepted", invocationId: "inv_1", runId: "r" });
    const [{ path, key, body } = {} as Seen] = seen;
    assert.equal(path, "/bowline/s%2F1/run/send");
    assert.equal(key, "%C3%A4%0A");
    const { message, ...rest } = body as { message: { timestamp: number } };
    assert.deepEqual(rest, { messageId: "ä\n", agent: "a", runId: "r", metadata });
    assert.ok(Math.abs(message.timestamp - Date.now()) < 10_000);
  });

  it("does not submit a message that a run has", async () => {
    await store.session.claimRun("s", "m", "run-1");
    const place = await client().submit("s", { messageId: "m", message: "hello" });
    assert.deepEqual(place, { state: "taken", runId: "run-1" });
    assert.deepEqual(seen, []);
  });

  it("puts a message into the inbox before Restate hears of it, and its first run counts", async () => {
    answers = [() => undefined, sent];
    const failed = client().submit("s", { messageId: "m", message: "hello" });
    await assert.rejects(failed, { code: "connection_failed", retryable: true });
    const [waiting] = await store.durable.waiting("s");
    assert.equal(waiting?.queue, "start");
    const again = await client().submit("s", { messageId: "m", message: "hello", runId: "other" });
    const { runId } = waiting;
    assert.deepEqual(again, { state: "accepted", invocationId: "inv_1", runId });
    const [, { body } = {} as Seen] = seen;
    assert.equal((body as { runId: string }).runId, runId);
    await store.durable.cancel("s");
    const late = await client().submit("s", { messageId: "m", message: "hello" });
    assert.deepEqual(late, { state: "cancelled", runId });
    assert.equal(seen.length, 2);
  });

  it("tells Restate again of what waits, and under another key once it was put back or waits for long", async () => {
    answers = [sent, sent, sent, sent, sent, sent];
    const message = { role: "user", content: "x" };
    const about = { sessionId: "s/1", id: "m:1", message, at: Date.now() };
    const start = { ...about, queue: "start", runId: "r", agent: "a", metadata: { x: 1 } } as const;
    await client().resend(start);
    await client().resend({ ...start, at: start.at - 5 * 60_000 });
    await client().resend({ ...about, queue: "steering", agent: "a" });
    await client().resend({ ...about, queue: "steering", returns: 2 });
    await client().resend({ ...about, queue: "steering", returns: 2, at: start.at - 90_000 });
    await client().resend({ ...about, id: "\uD800", queue: "followUp" });
    const run = { messageId: "m:1", message, runId: "r", agent: "a", metadata: { x: 1 } };
    assert.deepEqual(
      seen.map(({ path, key, body }) => [path, key, body]),
      [
        ["/bowline/s%2F1/run/send", "m%3A1", run],
        ["/bowline/s%2F1/run/send", "m%3A1:3", run],
        ["/bowline/s%2F1/wake/send", "m%3A1", { agent: "a" }],
        ["/bowline/s%2F1/wake/send", "m%3A1:back:2", {}],
        ["/bowline/s%2F1/wake/send", "m%3A1:back:2:1", {}],
        ["/bowline/s%2F1/wake/send", ":%22%5Cud800%22", {}],
      ],
    );
    assert.deepEqual(await store.durable.waiting("s"), []);
  });

  it("wakes the session after a message is in the inbox, also when it was there", async () => {
    answers = [sent, sent];
    const message = { messageId: "m", message: "hello" };
    assert.deepEqual(await client().steer("s", message), { state: "queued" });
    assert.deepEqual(await client().steer("s", message), { state: "queued" });
    assert.deepEqual(
      seen.map(({ path, key }) => [path, key]),
      [
        ["/bowline/s/wake/send", "m"],
        ["/bowline/s/wake/send", "m"],
      ],
    );
    assert.equal(await store.session.pending(), 1);
  });

  it("refuses messages that cannot work, before it sends anything", async () => {
    for (const message of [
      { messageId: "", message: "x" },
      { messageId: "m", message: {} },
      { messageId: "m", message: "x", agents: "y" },
      { messageId: "m", message: "x", runId: "x".repeat(257) },
    ])
      await assert.rejects(client().submit("s", message as never), { code: "invalid_argument" });
    assert.deepEqual(seen, []);
  });

  it("gives the errors of Restate a code", async () => {
    const cases: [number, string][] = [
      [400, "invalid_argument"],
      [404, "not_found"],
      [408, "timeout"],
      [429, "rate_limited"],
      [500, "server_error"],
    ];
    for (const [status, code] of cases) {
      answers = [() => ({ status, body: { message: "why" } })];
      await assert.rejects(client().state("s"), {
        code,
        message: `Restate answered ${status}: why`,
      });
    }
    answers = [() => undefined];
    await assert.rejects(client().abort("s"), { code: "connection_failed", retryable: true });
  });

  it("waits for an outcome over lost connections", async () => {
    const outcome = { state: "idle" };
    answers = [() => undefined, () => ({ status: 503 }), () => ({ body: outcome })];
    assert.deepEqual(await client().outcome("inv_1"), outcome);
    assert.equal(seen.length, 3);
    answers = [() => ({ status: 404, body: { message: "gone" } })];
    await assert.rejects(client().outcome("inv_1"), { code: "not_found" });
  });

  it("ends the runs that the watchdog finds, and the next check finds none", async () => {
    const rows = [{ id: "inv_1", target_service_key: "s", last_failure: "mismatch" }];
    answers = [() => ({ body: { rows } }), () => ({}), () => ({}), () => ({ body: { rows: [] } })];
    const admin = createRestateAdmin({ admin: url, ingress: url });
    const [ended] = await admin.endStuckRuns();
    assert.deepEqual(ended, { sessionId: "s", invocationId: "inv_1", failure: "mismatch" });
    assert.deepEqual(
      seen.map(({ method, path }) => `${method} ${path}`),
      ["POST /query", "PATCH /invocations/inv_1/kill", "POST /bowline/s/recover"],
    );
    const stop = new AbortController();
    answers = [() => ({ status: 500 }), () => ({ body: { rows: [] } })];
    const errors: unknown[] = [];
    const watching = admin.watch({
      signal: stop.signal,
      everyMs: 5,
      onError: (error) => errors.push(error),
    });
    while (answers.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    await watching;
    assert.ok(errors.length >= 1);
  });
});
