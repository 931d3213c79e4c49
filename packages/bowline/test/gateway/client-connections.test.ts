/** How the client connects: refusals that it accepts or retries, and the waits between its attempts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayClient, type ClientOptions } from "../../src/gateway/client/client.ts";
import { closeCodes, type AuthReply, type Welcome } from "../../src/gateway/protocol/frame.ts";
import { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { gatewayWith, token, wait } from "./gateway.ts";
import { within } from "../../../../test/support/within.ts";

/** A server that answers each connection's auth frame with the next reply, the last one also later. */
async function replying(...replies: readonly { reply: AuthReply; code?: number }[]): Promise<
  AsyncDisposable & {
    client(options?: Partial<ClientOptions>): GatewayClient;
    /** When each connection was made, in milliseconds. */
    readonly times: readonly number[];
    cut(): void;
  }
> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const times: number[] = [];
  const clients: GatewayClient[] = [];
  let last: WebSocket | undefined;
  server.on("connection", (socket) => {
    const { reply, code } = replies[times.length] ?? replies.at(-1) ?? assert.fail();
    times.push(performance.now());
    last = socket;
    socket.once("message", () => {
      socket.send(JSON.stringify(reply));
      if (code !== undefined) socket.close(code);
    });
  });
  await once(server, "listening");
  return {
    times,
    cut: () => last?.terminate(),
    client(options = {}) {
      const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const client = new GatewayClient({
        url,
        token,
        WebSocket,
        backoff: { firstMs: 1, maxMs: 1 },
        ...options,
      });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

async function welcomed(): Promise<{ reply: Welcome }> {
  await using server = await gatewayWith([]);
  return { reply: (await server.client()).welcome };
}

function refused(...given: ConstructorParameters<typeof GatewayError>): { reply: AuthReply } {
  return { reply: { type: "auth", ok: false, error: new GatewayError(...given).frame } };
}

/** Resolves when the client is in this state; at once if it is. */
async function inState(client: GatewayClient, state: string): Promise<void> {
  if (client.state === state) return;
  const reached = new Promise<void>((resolve) => {
    const stop = client.onState((now) => {
      if (now !== state) return;
      stop();
      resolve();
    });
  });
  await within(`the client is ${state}`, reached);
}

describe("a connection of the client", () => {
  it("is ready with the server's welcome, and answers requests", async () => {
    await using server = await gatewayWith([]);
    const client = new GatewayClient({ url: server.gateway.url, token, WebSocket });
    try {
      const welcome = await within("the client is ready", client.ready());
      assert.equal(welcome.server.name, "bowline");
      assert.deepEqual([client.state, client.welcome], ["open", welcome]);
      assert.equal(await within("it is ready again", client.ready()), welcome);
      const asked = client.request("health.check", {});
      assert.equal((await within("the request is answered", asked)).connections, 1);
    } finally {
      client.close();
    }
    assert.equal(client.state, "ended");
  });

  it("is tried again after a refusal that says so, not before the time that it names", async () => {
    const busy = refused("busy", "Wait.", { retryable: true, retryAfterMs: 60 });
    await using server = await replying({ ...busy, code: closeCodes.tooMany }, await welcomed());
    const client = server.client();
    const states: string[] = [];
    client.onState((state) => states.push(state));
    await within("the client is ready after the refusal", client.ready());
    assert.deepEqual(states, ["waiting", "connecting", "open"]);
    const [first = 0, second = 0] = server.times;
    assert.ok(second - first >= 59, `${second - first} ms`);
    const lost = assert.rejects(client.request("health.check", {}), { code: "connection_lost" });
    await client.ready();
    server.cut();
    await within("the request is rejected", lost);
  });

  it("is not tried again after a final refusal, whose error pending callers get", async () => {
    const wrong = refused("bad_params", "This server speaks another version.");
    await using server = await replying({ ...wrong, code: closeCodes.badFrames });
    const client = server.client();
    await assert.rejects(within("the client gives up", client.ready()), {
      code: "bad_params",
      message: "This server speaks another version.",
    });
    await assert.rejects(within("it gives up again", client.ready()), { code: "bad_params" });
    assert.deepEqual([client.state, server.times.length], ["ended", 1]);
  });

  it("is not tried again when the client is closed while it waits to reconnect", async () => {
    await using server = await replying({
      ...refused("busy", "Wait.", { retryable: true }),
      code: closeCodes.tooMany,
    });
    const client = server.client({ backoff: { firstMs: 20, maxMs: 20 } });
    await inState(client, "waiting");
    client.close();
    await wait(60);
    assert.deepEqual([client.state, server.times.length], ["ended", 1]);
  });

  it("is tried again soon each time that a good one is lost", async () => {
    await using server = await replying(await welcomed());
    const client = server.client({ backoff: { firstMs: 1, maxMs: 1e9 } });
    // A wait that doubled each time would soon be longer than the limit.
    for (let count = 1; count <= 24; count++) {
      await inState(client, "open");
      server.cut();
      await inState(client, "waiting");
    }
    await inState(client, "open");
    assert.equal(server.times.length, 25);
  });

  it("waits twice as long after each failure, between half of that and all, up to the limit", async () => {
    const waits: number[] = [];
    for (const random of [0, 1]) {
      const busy = refused("busy", "Wait.", { retryable: true });
      await using server = await replying({ ...busy, code: closeCodes.tooMany });
      const states: number[] = [];
      const client = server.client({ backoff: { firstMs: 40, maxMs: 100 }, random: () => random });
      await new Promise<void>((resolve) => {
        client.onState((state) => {
          states.push(performance.now());
          if (state === "connecting" && states.length === 6) resolve();
        });
      });
      for (let at = 0; at < 6; at += 2)
        waits.push(Math.round((states[at + 1] ?? 0) - (states[at] ?? 0)));
    }
    for (const [at, least] of [20, 40, 50, 40, 80, 100].entries())
      assert.ok((waits[at] ?? 0) >= least - 1, `${waits.join(" ")} ms`);
  });
});
