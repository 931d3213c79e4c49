/** Bad frames, refused connections, and clients that disconnect during authentication. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { closeCodes } from "../../src/gateway/protocol/frame.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { eventually, within } from "../../../../test/support/within.ts";
import { closed, gatewayWith, wait } from "./gateway.ts";

describe("bad frames", () => {
  const limits = { maxBadFrames: 3 };

  it("are counted from zero again after a good frame", async () => {
    await using server = await gatewayWith([], { limits });
    const client = await server.client();
    for (let round = 0; round < 3; round++) {
      for (let bad = 1; bad < limits.maxBadFrames; bad++) client.socket.send("{");
      await client.call("health.check", {});
    }
    const code = closed(client.socket);
    for (let bad = 0; bad < limits.maxBadFrames; bad++) client.socket.send("{");
    assert.equal(await within("the connection is closed", code), closeCodes.badFrames);
  });

  it("do not include requests with wrong parameters", async () => {
    await using server = await gatewayWith([], { limits });
    const client = await server.client();
    for (let count = 0; count <= limits.maxBadFrames; count++)
      assert.equal(await client.refused("chat.history", { sessionKey: 1 }), "bad_params");
    await client.call("health.check", {});
  });
});

describe("a connection that the server closes", () => {
  it("takes no more requests, also those that were on their way", async () => {
    await using server = await gatewayWith(["Too late."]);
    const [client, other] = [await server.client(), await server.client()];
    const code = closed(client.socket);
    client.socket.send(Buffer.from("{}")); // frames are text
    const params = { sessionKey: "s", message: "Hi" };
    client.socket.send(JSON.stringify({ id: 1, method: "chat.send", params }));
    assert.equal(await within("the connection is closed", code), closeCodes.unsupported);
    assert.deepEqual((await other.call("sessions.list", {})).sessions, []);
    assert.equal(server.model.calls.length, 0);
  });
});

describe("a refused connection", () => {
  it("is closed by the server, even if the client keeps its half open", async () => {
    await using server = await gatewayWith([]);
    const { port } = server.gateway;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let isGone = false;
    for (const event of ["error", "close"] as const) socket.on(event, () => (isGone = true));
    const isEnded = once(socket.resume(), "end");
    socket.write(
      "GET / HTTP/1.1\r\nhost: localhost\r\norigin: https://evil.example\r\n" +
        "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n" +
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    try {
      await within("the server has said why", isEnded);
      await eventually("the server takes no more", () => {
        if (!isGone) socket.write("x");
        return isGone;
      });
    } finally {
      socket.destroy();
    }
  });
});

describe("a client that does not answer pings", () => {
  it("is dropped after two of them", async () => {
    await using server = await gatewayWith([], {
      limits: { tickIntervalMs: 40, closeGraceMs: 40 },
    });
    const socket = new WebSocket(`ws://127.0.0.1:${server.gateway.port}`, { autoPong: false });
    let pings = 0;
    socket.on("ping", () => pings++);
    assert.deepEqual([await closed(socket), pings], [closeCodes.silent, 2]);
  });
});

describe("frames that a client sends during its authentication", () => {
  const limits = { maxPendingRequests: 4 };

  /** Sends a token and this many requests, and then lets the client in. */
  async function early(count: number): Promise<{ readonly answers: unknown[]; code?: number }> {
    const gate = deferred();
    const authorize = (): Promise<{ scope: "full" }> =>
      gate.promise.then(() => ({ scope: "full" }));
    await using server = await gatewayWith([], { limits, authorize });
    const socket = server.socket();
    const answers: unknown[] = [];
    let code: number | undefined;
    let isThere = false;
    socket.on("pong", () => (isThere = true));
    socket.on("close", (given) => (code = given));
    socket.on("message", (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { readonly id?: unknown };
      if (id !== undefined) answers.push(id);
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "auth", token: "slow" }));
    for (let id = 1; id <= count; id++)
      socket.send(JSON.stringify({ id, method: "health.check", params: {} }));
    socket.ping();
    await eventually("they have arrived", () => code !== undefined || isThere);
    gate.resolve();
    await eventually("all are answered", () => code !== undefined || answers.length === count);
    socket.terminate();
    return { answers, ...(code !== undefined && { code }) };
  }

  it("are answered afterwards, in order, up to the limit of pending requests", async () => {
    assert.deepEqual(await early(4), { answers: [1, 2, 3, 4] });
  });

  it("end the connection if there are more", async () => {
    assert.deepEqual(await early(5), { answers: [], code: closeCodes.secondAuth });
  });
});

describe("a client that disconnects during authentication", () => {
  it("is not counted as connected", async () => {
    const gate = deferred();
    let asked = 0;
    await using server = await gatewayWith([], {
      authorize: async (given) => {
        asked++;
        if (given === "late") await gate.promise;
        return { scope: "full" };
      },
    });
    const client = await server.client({ token: "other" });
    const socket = server.socket();
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "auth", token: "late" }));
    await eventually("the token is looked at", () => asked === 2);
    socket.terminate();
    await wait(50);
    gate.resolve();
    await wait(50);
    await eventually("one is connected", async () => {
      return (await client.call("health.check", {})).connections === 1;
    });
  });
});
