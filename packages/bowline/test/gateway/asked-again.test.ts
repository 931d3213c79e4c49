/**
 * Refused requests that the client sends by itself, so that the application could not retry them.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import type { RunHandle, RunOutcome } from "../../src/gateway/client/followed-run.ts";
import { errorNumbers } from "../../src/gateway/protocol/frame.ts";
import type { SendParams } from "../../src/gateway/protocol/protocol.ts";
import { eventually, within } from "../../../../test/support/within.ts";

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
  await within("the client is ready", client.ready()); // follows nothing yet, so it sends no requests
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
const accepted = (client: GatewayClient, params: SendParams = message): Promise<RunHandle> =>
  within("the message is accepted", client.send(params));
const ended = (run: RunHandle): Promise<RunOutcome> => within("the run ends", run.result());

describe("a subscription that the client renews by itself", () => {
  it("is retried after a delay when the server is busy", async () => {
    const gap = seq("chat.delta", 4, { turn: 0, text: "it" });
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), gap],
      [refused("busy")],
      [refused("busy")],
      [known, snapshot, final],
    ]);
    const { text, end } = await ended(await accepted(server.client));
    assert.deepEqual([text, end.event], ["All of it.", "chat.final"]);
    assert.equal(server.asked.length, 4);
  });

  it("is repeated on a new connection, and retried when it is refused there", async () => {
    using server = await serverOf([[begun], []], [[refused("busy")], [known, snapshot, final]]);
    const run = await accepted(server.client);
    server.client.request("health.check", {}).catch(() => {}); // drops the connection
    assert.equal((await ended(run)).text, "All of it.");
  });

  it("ends when it is refused permanently", async () => {
    using server = await serverOf([
      [begun, seq("chat.user", 0, { text: "Hi" }), final],
      [refused("not_found")],
    ]);
    const run = await accepted(server.client);
    await assert.rejects(ended(run), { code: "not_found" });
  });
});

describe("a message that is refused", () => {
  it("is not sent again", async () => {
    using server = await serverOf([[refused("not_found")], [begun]]);
    await assert.rejects(accepted(server.client), { code: "not_found" });
    assert.equal(server.asked.length, 1);
  });
});

describe("a new connection", () => {
  const resumed = (asked: readonly Asked[]): unknown[] =>
    asked.filter(({ method }) => method === "chat.subscribe").map(({ params }) => params);
  const lose = async ({ client }: { readonly client: GatewayClient }): Promise<void> => {
    const again = inOpen(client);
    client.request("health.check", {}).catch(() => {}); // drops the connection
    await within("the client is ready again", again);
  };
  const inOpen = (client: GatewayClient): Promise<void> =>
    new Promise((resolve) => {
      const stop = client.onState((state) => {
        if (state !== "open") return;
        stop();
        resolve();
      });
    });

  it("does not ask for a run again that the server did not know", async () => {
    const unknown = { runId: "run", sessionKey: "s", state: "unknown", seq: -1 };
    const none = { result: { sessionKey: "s", runs: [unknown] } };
    using server = await serverOf([[begun], []], [[none], []], [[taking]]);
    const run = await accepted(server.client);
    await lose(server);
    await assert.rejects(ended(run), { code: "not_found" });
    await lose(server);
    await eventually("the session is followed", () => resumed(server.asked).length >= 2);
    assert.deepEqual(resumed(server.asked), [
      { sessionKey: "s", runId: "run", seq: -1 },
      { sessionKey: "s" },
    ]);
  });

  it("does not follow a session that the client has left", async () => {
    const left = { result: {} };
    using server = await serverOf([[taking], [left], []], [[{ result: {} }]]);
    const { client, asked } = server;
    await within("the session is followed", client.subscribe("s"));
    await within("the session is left", client.unsubscribe("s"));
    await lose(server);
    await within("a request is answered", client.request("health.check", {}));
    assert.deepEqual(resumed(asked), [{ sessionKey: "s" }]);
  });
});

describe("a message that waits without a run", () => {
  const waits = { result: { runId: "key", sessionKey: "s", status: "waiting" } };
  const steered = { sessionKey: "s", message: "Hi", idempotencyKey: "key" };
  const over = seq("chat.final", 1, { usage: {}, stopReason: "stop" });

  it("makes the client follow the session, and no run", async () => {
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
    const posted = within("the message is accepted", client.post("chat.steer", steered));
    assert.equal((await posted).status, "waiting");
    const first = (await within("an event is heard", heard)) as { messageId?: string };
    assert.equal(first.messageId, "key");
    assert.deepEqual(asked[1]?.params, { sessionKey: "s" });
    client.request("health.check", {}).catch(() => {}); // drops the connection
    await eventually("the client subscribes again", () => asked.length >= 4);
    assert.equal(asked[3]?.method, "chat.subscribe");
    assert.notEqual(asked[3].params.runId, "key");
    assert.deepEqual(unknown, []);
  });

  it("has no run for a client that sends it as a message of its own", async () => {
    using server = await serverOf([[waits], [taking]]);
    const run = await accepted(server.client, steered);
    await assert.rejects(ended(run), { code: "not_found" });
  });
});
