/** Authentication with `connect`, and typed frames from then on. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { WebSocket } from "ws";
import { BowlineError, defineTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { issuesOf } from "../../src/gateway/protocol/check.ts";
import type { EventName } from "../../src/gateway/protocol/protocol.ts";
import { events, methods } from "../../src/gateway/protocol/schema.ts";
import { closed, gatewayWith, token, wait, type TestGateway } from "./gateway.ts";

interface Typed {
  readonly type: "res" | "event";
  readonly id?: string | number | null;
  readonly ok?: boolean;
  readonly payload?: Record<string, unknown> & { readonly runId?: string; readonly text?: string };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details: object;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
  readonly event?: EventName;
  readonly seq?: number;
}

const connect = (params: object = {}, id: unknown = "c"): string =>
  JSON.stringify({ type: "req", id, method: "connect", params: { auth: { token }, ...params } });

/** Opens a socket with this first frame. `frames` contains everything received. */
async function knock(
  server: TestGateway,
  first: string,
): Promise<{ socket: WebSocket; frames: Typed[] }> {
  const socket = server.socket();
  const frames: Typed[] = [];
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString()) as Typed));
  await once(socket, "open");
  await wait(5);
  assert.deepEqual(frames, [], "the server speaks first");
  socket.send(first);
  return { socket, frames };
}

async function until(frames: readonly Typed[], isIt: (frame: Typed) => boolean): Promise<Typed> {
  for (let left = 500; left > 0; left--) {
    const found = frames.find(isIt);
    if (found !== undefined) return found;
    await wait(10);
  }
  return assert.fail(`no such frame; came: ${JSON.stringify(frames.slice(-3))}`);
}

describe("a client with typed frames", () => {
  it("is authenticated by the frame that docs/gateway.md shows", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../../docs/gateway.md"), "utf8");
    const shown = /^\{"type":"req".*"method":"connect".*$/m.exec(page)?.[0] ?? "";
    await using server = await gatewayWith([], { tokens: { full: "mysecrettoken" } });
    const { socket, frames } = await knock(server, shown);
    const { id, ok, payload } = await until(frames, () => true);
    assert.deepEqual([id, ok, payload?.type], ["1", true, "hello-ok"]);
    socket.terminate();
  });

  it("gets the server's features in the answer to its connect request", async () => {
    await using server = await gatewayWith([]);
    const client = { id: "cli", version: "1.2.3", platform: "linux", mode: "operator" };
    const { socket, frames } = await knock(
      server,
      connect({ minProtocol: 3, maxProtocol: 5, client }),
    );
    const { type, id, ok, payload } = await until(frames, () => true);
    assert.deepEqual(
      [type, id, ok, payload?.type, payload?.protocol],
      ["res", "c", true, "hello-ok", 4],
    );
    assert.deepEqual(payload?.features, {
      methods: Object.keys(methods),
      events: Object.keys(events),
    });
    assert.deepEqual(Object.keys(payload.policy as object).slice(0, 3), [
      "maxPayload",
      "maxBufferedBytes",
      "tickIntervalMs",
    ]);
    const { connId, name } = payload.server as { connId: string; name: string };
    assert.ok(connId.length > 8 && name === "bowline");
    assert.deepEqual((payload.auth as { scopes: string[] }).scopes.length, 3);
    assert.equal(JSON.stringify(frames).includes(token), false);
    socket.terminate();
  });

  it("gets answers, refusals and events as typed frames, with the answer before the events of its run", async () => {
    await using server = await gatewayWith(["Hello there."]);
    const { socket, frames } = await knock(server, connect());
    const request = (id: unknown, method: string, params?: object): void =>
      socket.send(JSON.stringify({ type: "req", id, method, params }));
    await until(frames, ({ ok }) => ok === true);
    request(1, "chat.send", { sessionKey: "s", message: "go" });
    await until(frames, ({ event }) => event === "chat.final");
    request("again", "sessions.get", { sessionKey: "none" });
    request("bad", "chat.send", { sessionKey: "s" });
    socket.send('{"id":"plain","method":"health.check"}');
    const plain = await until(frames, ({ id }) => id === "plain");
    assert.equal(plain.error?.code, "bad_request");
    const missing = await until(frames, ({ id }) => id === "again");
    assert.deepEqual([missing.type, missing.ok, missing.error?.code], ["res", false, "not_found"]);
    assert.deepEqual(missing.error?.details, { number: -32004 });
    const bad = await until(frames, ({ id }) => id === "bad");
    assert.match(JSON.stringify(bad.error?.details), /"issues":\[\{"path":"/);

    const answer = frames.findIndex(({ id }) => id === 1);
    const runId = frames[answer]?.payload?.runId;
    const ofRun = frames.filter(
      ({ type, payload }) => type === "event" && payload?.runId === runId,
    );
    assert.ok(ofRun.length > 3 && frames.indexOf(ofRun[0] as Typed) > answer);
    for (const { event = "tick", payload } of ofRun)
      assert.deepEqual(issuesOf(events[event].data, payload), []);
    const texts = ofRun.flatMap(({ event, payload }) =>
      event === "chat.delta" ? [payload?.text] : [],
    );
    assert.equal(texts.join(""), "Hello there.");
    // The connection's numbers have no gap. The run's numbers are in the payload.
    const seqs = frames.flatMap(({ type, seq }) => (type === "event" ? [seq] : []));
    assert.deepEqual(seqs, [...seqs.keys()]);
    assert.deepEqual(
      ofRun.map(({ payload }) => payload?.seq),
      [...ofRun.keys()],
    );
    socket.terminate();
  });

  it("can only read with a read token, and gets only the requested events", async () => {
    await using server = await gatewayWith(["Hello."]);
    const params = { auth: { token: "for-reading-only" }, events: ["chat.final"] };
    const { socket, frames } = await knock(server, connect(params));
    const { payload = {} } = await until(frames, () => true);
    assert.deepEqual((payload.auth as { scopes: string[] }).scopes, ["operator.read"]);
    socket.send(
      '{"type":"req","id":2,"method":"chat.send","params":{"sessionKey":"s","message":"x"}}',
    );
    assert.equal((await until(frames, ({ id }) => id === 2)).error?.code, "forbidden");
    socket.send('{"type":"req","id":3,"method":"chat.subscribe","params":{"sessionKey":"s"}}');
    await until(frames, ({ id }) => id === 3);
    const other = await server.client();
    await other.end((await other.call("chat.send", { sessionKey: "s", message: "go" })).runId);
    await until(frames, ({ event }) => event === "chat.final");
    assert.deepEqual(
      frames.filter(({ type }) => type === "event").map(({ event }) => event),
      ["chat.final"],
    );
    socket.terminate();
  });

  it("gets the prefix of its sessions and the server's notice, only if there are any", async () => {
    await using limited = await gatewayWith([], {
      tokens: undefined as never,
      authorize: () => ({ scope: "full", sessions: "ann:" }),
      backendFor: () => Promise.reject(new BowlineError("invalid_argument", "No model answers.")),
    });
    await using whole = await gatewayWith([]);
    const scopes = ["operator.read", "operator.write", "operator.approvals"];
    const role = "operator";
    for (const [server, auth, notice] of [
      [limited, { role, scopes, sessions: "ann:" }, "No model answers."],
      [whole, { role, scopes }, undefined],
    ] as const) {
      const { socket, frames } = await knock(server, connect());
      const { payload = {} } = await until(frames, () => true);
      assert.deepEqual([payload.auth, payload.notice], [auth, notice]);
      assert.equal("notice" in payload, notice !== undefined);
      socket.terminate();
    }
  });

  it("answers approvals under its id and version, or under its connection's id", async () => {
    const names: readonly [client: object | undefined, by: string | undefined][] = [
      [{ id: "cli", version: "1.2.3" }, "cli 1.2.3"],
      [{ id: "cli" }, "cli"],
      [{ id: 5, version: "1.2.3" }, "1.2.3"],
      [{ id: "x".repeat(300) }, "x".repeat(200)],
      [{ mode: "operator" }, undefined],
      [undefined, undefined],
    ];
    for (const [client, name] of names) {
      const call = { content: [scriptedToolCall("write", {}, "call_1")] };
      const write = defineTool({
        name: "write",
        description: "Writes.",
        parameters: { type: "object", properties: {} },
        needsApproval: true,
        execute: () => "done",
      });
      await using server = await gatewayWith([call, "Done."], { tools: () => [write] });
      const { socket, frames } = await knock(server, connect({ client }));
      const { payload: hello = {} } = await until(frames, ({ ok }) => ok === true);
      const request = (id: unknown, method: string, params: object): void =>
        socket.send(JSON.stringify({ type: "req", id, method, params }));
      request(1, "chat.send", { sessionKey: "s", message: "go" });
      const asked = await until(frames, ({ event }) => event === "exec.approval_request");
      request(2, "exec.approve", { approvalId: asked.payload?.approvalId });
      const { payload } = await until(frames, ({ event }) => event === "exec.approval_resolved");
      const { connId } = hello.server as { readonly connId: string };
      assert.deepEqual([payload?.decision, payload?.by], ["allow", name ?? connId]);
      socket.terminate();
    }
  });

  it("is told how long to wait after too many wrong tokens", async () => {
    await using server = await gatewayWith([], { limits: { maxAuthFailures: 1 } });
    const refusals: Typed["error"][] = [];
    for (const own of ["wrong", "wrong"]) {
      const { socket, frames } = await knock(server, connect({ auth: { token: own } }));
      await closed(socket);
      refusals.push(frames[0]?.error);
    }
    const [wrong, busy] = refusals;
    assert.deepEqual(
      [wrong?.code, wrong?.retryable, "retryAfterMs" in (wrong ?? {})],
      ["unauthorized", false, false],
    );
    assert.deepEqual([busy?.code, busy?.retryable], ["busy", true]);
    const { retryAfterMs = 0 } = busy ?? {};
    assert.ok(retryAfterMs > 50_000 && retryAfterMs <= 60_000, String(retryAfterMs));
  });

  it("is refused with a typed frame, and disconnected", async () => {
    await using server = await gatewayWith([]);
    const cases: readonly [string, string, number][] = [
      [connect({ auth: { token: "wrong" } }), "unauthorized", 4401],
      [connect({ auth: {} }), "bad_request", 4401],
      [connect({ auth: null }), "bad_request", 4401],
      [connect({ events: 5 }), "bad_request", 4401],
      ['{"type":"req","id":"c","method":"connect"}', "bad_request", 4401],
      [connect({ minProtocol: 5, maxProtocol: 9 }), "bad_params", 4400],
      [connect({ maxProtocol: 3 }), "bad_params", 4400],
      [connect({ maxProtocol: "x" }), "bad_params", 4400],
    ];
    for (const [first, code, end] of cases) {
      const { socket, frames } = await knock(server, first);
      assert.equal(await closed(socket), end, first);
      const [refusal, ...others] = frames;
      assert.deepEqual(
        [refusal?.type, refusal?.id, refusal?.ok, refusal?.error?.code],
        ["res", "c", false, code],
        first,
      );
      assert.deepEqual(others, []);
    }
  });

  it("is disconnected when it authenticates again, with either kind of frame", async () => {
    await using server = await gatewayWith([]);
    for (const second of [connect(), JSON.stringify({ type: "auth", token })]) {
      const { socket } = await knock(server, connect());
      const end = closed(socket);
      await wait(20);
      socket.send(second);
      assert.equal(await end, 4409);
    }
    const plain = await server.client();
    const end = closed(plain.socket);
    plain.socket.send(connect());
    assert.equal(await end, 4409);
  });
});
