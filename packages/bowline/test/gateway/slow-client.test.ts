import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { agents, gatewayWith, TestClient, token, wait } from "./gateway.ts";

const megabyte = "0123456789abcdef".repeat(64 * 1024);

describe("a client that reads slowly", () => {
  it("gets every event number and the whole text, in fewer frames", async () => {
    await using server = await gatewayWith([megabyte.repeat(16)], {
      pace: { deltaLength: 16 * 1024, delayMs: 0.1 },
      limits: { maxBufferedBytes: 32 * 1024 * 1024 },
    });
    const [client, other] = [await server.client(), await server.client()];
    const { socket } = client;
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    socket.pause();
    while ((await other.call("health.check", {})).runs > 0) await wait(50);
    socket.resume();
    await client.event("chat.final", runId);
    const own = client.ofRun(runId).filter(({ event }) => event !== undefined);
    let last = -1;
    for (const { data } of own) {
      assert.equal((data?.firstSeq as number | undefined) ?? data?.seq, last + 1);
      last = data?.seq as number;
    }
    assert.equal(client.text(runId), megabyte.repeat(16));
    assert.ok(own.length < 1000, `${own.length} frames`);
  });

  it("is closed when more is buffered than the limit, and the run continues", async () => {
    await using server = await gatewayWith([megabyte.repeat(16)], {
      pace: { deltaLength: 16 * 1024, delayMs: 0.1 },
      limits: { maxBufferedBytes: 512 * 1024, closeGraceMs: 200 },
    });
    const slow = await server.client();
    const { runId } = await slow.call("chat.send", { sessionKey: "s", message: "go" });
    const end = once(slow.socket, "close") as Promise<[number]>;
    slow.socket.pause();
    const other = await server.client();
    await other.call("chat.subscribe", { sessionKey: "s", runId });
    assert.equal((await other.end(runId)).event, "chat.final");
    await wait(300);
    slow.socket.resume();
    const [code] = await end;
    assert.ok(code === 4413 || code === 1006, String(code));
    assert.equal((await other.call("health.check", {})).connections, 1);
  });

  it("is dropped when it answers no ping", async () => {
    await using server = await gatewayWith([], {
      limits: { tickIntervalMs: 40, closeGraceMs: 40 },
    });
    // A raw connection that answers nothing.
    const socket = connect(server.gateway.port, "127.0.0.1");
    socket.write(
      "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
        "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await once(socket.resume(), "close");
    const client = await server.client();
    // A client that answers stays connected through several pings.
    await client.until(() => client.frames.filter(({ event }) => event === "tick").length >= 4);
    assert.equal(client.socket.readyState, WebSocket.OPEN);
  });
});

it("reports a failed welcome, and accepts the next client", async () => {
  let tries = 0;
  await using server = await gatewayWith([], {
    agents: () => (tries++ === 0 ? Promise.reject(new Error("no such file")) : agents),
  });
  const socket = server.socket();
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "auth", token }));
  const [data] = (await once(socket, "message")) as [Buffer];
  assert.equal((JSON.parse(data.toString()) as { ok: boolean }).ok, false);
  const [code] = (await once(socket, "close")) as [number];
  assert.equal(code, 1011);
  assert.equal((await server.client()).welcome.ok, true);
});

it("sends only the requested events to a client", async () => {
  await using server = await gatewayWith(["Hi."]);
  const client = await TestClient.enter(`ws://127.0.0.1:${server.gateway.port}`, token, [
    "chat.final",
  ]);
  const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
  await client.end(runId);
  assert.deepEqual(
    client.frames.flatMap(({ event }) => event ?? []),
    ["chat.final"],
  );
  client.socket.terminate();
});
