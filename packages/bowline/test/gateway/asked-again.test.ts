/**
 * Refused requests that the client sends by itself, so that the application could not retry them.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { errorNumbers } from "../../src/gateway/protocol/frame.ts";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly runId?: string };
}

const seq = (event: string, number: number, more: object = {}): object => ({
  event,
  data: { runId: "run", sessionKey: "s", seq: number, ...more },
});
const refused = (code: "busy" | "not_found"): object => ({
  error: { code: errorNumbers[code], message: "No.", data: { code, retryable: code === "busy" } },
});
const known = {
  result: { sessionKey: "s", runs: [{ runId: "run", sessionKey: "s", state: "running", seq: 7 }] },
};
const snapshot = seq("chat.snapshot", 7, {
  state: "running",
  blocks: [{ type: "text", turn: 0, text: "All of it." }],
});
const final = seq("chat.final", 8, { usage: {}, stopReason: "stop" });

/**
 * A server with one script per connection. For each request it sends the answer, then the events.
 */
async function serverOf(
  ...connections: readonly (readonly (readonly object[])[])[]
): Promise<Disposable & { readonly client: GatewayClient; readonly asked: Asked[] }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const asked: Asked[] = [];
  let connected = 0;
  server.on("connection", (socket) => {
    const answers = [...(connections[connected++] ?? [])];
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Asked;
      if (!("method" in frame))
        return socket.send(JSON.stringify({ type: "auth", ok: true, limits: {} }));
      asked.push(frame);
      const [answer, ...events] = answers.shift() ?? [];
      if (answer === undefined) return socket.terminate();
      socket.send(JSON.stringify({ id: frame.id, ...answer }));
      for (const event of events) socket.send(JSON.stringify(event));
    });
  });
  const { port } = server.address() as AddressInfo;
  const client = new GatewayClient({
    url: `http://127.0.0.1:${port}`,
    token: "t",
    WebSocket,
    backoff: { firstMs: 1, maxMs: 5 },
  });
  await client.ready(); // follows nothing yet, so it sends no requests
  const dispose = (): void => {
    client.close();
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  return { client, asked, [Symbol.dispose]: dispose };
}

const taking = {
  result: { sessionKey: "s", runs: [{ runId: "run", sessionKey: "s", state: "running", seq: 0 }] },
};
const begun = { result: { runId: "run", sessionKey: "s", status: "started" } };
const message = { sessionKey: "s", message: "Hi", idempotencyKey: "run" };

describe("a subscription that the client renews by itself", () => {
  it("is retried after a delay when the server is busy", { timeout: 60_000 }, async () => {
    const gap = seq("chat.delta", 4, { turn: 0, text: "it" });
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), gap],
      [refused("busy")],
      [refused("busy")],
      [known, snapshot, final],
    ]);
    const { text, end } = await (await server.client.send(message)).result();
    assert.deepEqual([text, end.event], ["All of it.", "chat.final"]);
    assert.equal(server.asked.length, 4);
  });

  it(
    "is repeated on a new connection, and retried when it is refused there",
    { timeout: 60_000 },
    async () => {
      using server = await serverOf([[begun], []], [[refused("busy")], [known, snapshot, final]]);
      const run = await server.client.send(message);
      server.client.request("health.check", {}).catch(() => {}); // drops the connection
      assert.equal((await run.result()).text, "All of it.");
    },
  );

  it("ends when it is refused permanently", { timeout: 60_000 }, async () => {
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), final],
      [refused("not_found")],
    ]);
    const run = await server.client.send(message);
    await assert.rejects(run.result(), { code: "not_found" });
  });
});

describe("a message that waits without a run", () => {
  const waits = { result: { runId: "key", sessionKey: "s", status: "waiting" } };
  const steered = { sessionKey: "s", message: "Hi", idempotencyKey: "key" };
  const over = seq("chat.final", 1, { usage: {}, stopReason: "stop" });

  it("makes the client follow the session, and no run", { timeout: 60_000 }, async () => {
    const went = { text: "Hi", messageId: "key" };
    using server = await serverOf(
      [[waits], [taking, seq("chat.user", 0, went), over], []],
      [[taking]],
    );
    const { client, asked } = server;
    const unknown: string[] = [];
    client.onUnknown((runId) => unknown.push(runId));
    const heard = new Promise((resolve) => {
      client.onEvent((frame) => resolve(frame.data));
    });
    assert.equal((await client.post("chat.steer", steered)).status, "waiting");
    assert.equal(((await heard) as { messageId?: string }).messageId, "key");
    assert.deepEqual(asked[1]?.params, { sessionKey: "s" });
    client.request("health.check", {}).catch(() => {}); // drops the connection
    while (asked.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(asked[3]?.method, "chat.subscribe");
    assert.notEqual(asked[3].params.runId, "key");
    assert.deepEqual(unknown, []);
  });

  it("has no run for a client that sends it as a message of its own", async () => {
    using server = await serverOf([[waits], [taking]]);
    const run = await server.client.send(steered);
    await assert.rejects(run.result(), { code: "not_found" });
  });
});
