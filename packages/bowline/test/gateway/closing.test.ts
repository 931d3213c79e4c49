/** Closing a server with connected clients. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { scriptedToolCall } from "@bowline/core/testing";
import { RawHttp } from "../fuzz/raw-http.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";

const handshake =
  "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n";
const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

async function begun({ gateway }: TestGateway, bytes: string): Promise<Socket> {
  const socket = connect(gateway.port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  await new Promise((resolve) => socket.write(bytes, resolve));
  await wait(20);
  return socket;
}

async function msOf(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work;
  return performance.now() - from;
}

/** So long that a test that waits for it is noticed, even on a busy machine. */
const patient = { closeGraceMs: 60_000 };

describe("a closing server", () => {
  it("refuses new clients, also those whose handshake had begun", async () => {
    const server = await gatewayWith([], { limits: patient });
    const socket = await begun(server, handshake);
    const closed = msOf(server.gateway.close());
    socket.write(key);
    let said = "";
    for await (const chunk of socket) said += String(chunk);
    assert.match(said, /^HTTP\/1\.1 503 [^]*\r\n\r\nThe server is shutting down\.$/);
    assert.ok((await closed) < patient.closeGraceMs / 2);
  });

  it("answers a new stream with a shutdown event, because an EventSource does not reconnect after a refusal", async () => {
    await using server = await gatewayWith(["word ".repeat(500)], {
      pace: { delayMs: 5 },
      limits: patient,
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const raw = await RawHttp.open(server.gateway.port);
    const head = `GET /api/runs/${runId}/events HTTP/1.1\r\nhost: localhost\r\n`;
    raw.ask("GET", Buffer.from(head));
    await wait(20);
    const closed = msOf(server.gateway.close());
    raw.write(Buffer.from(`authorization: Bearer ${token}\r\n\r\n`));
    await raw.until(1);
    const [{ status, body } = { status: 0, body: "" }] = raw.answers;
    assert.equal(status, 200, body);
    assert.equal(body.trim(), 'event: shutdown\ndata: {"reason":"the server was stopped"}');
    raw.socket.destroy();
    assert.ok((await closed) < patient.closeGraceMs / 2);
  });

  it("refuses requests as busy, and says on /ready that it shuts down", async () => {
    await using server = await gatewayWith([], { limits: patient });
    const expected = [
      ["/", 429, /"code":"busy".*"retryable":true/],
      ["/health", 429, /"message":"The server is shutting down\."/],
      ["/ready", 503, /^\{"isReady":false,"message":"shutting down","parts":\[\]\}$/],
    ] as const;
    const asked = await Promise.all(
      expected.map(async ([path, status, body]) => {
        const raw = await RawHttp.open(server.gateway.port);
        raw.ask("GET", Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n`));
        return { raw, path, status, body };
      }),
    );
    await wait(20);
    const closed = server.gateway.close();
    for (const { raw } of asked) raw.write(Buffer.from("\r\n"));
    await Promise.all(asked.map(({ raw }) => raw.until(1)));
    // Before the assertions, because the server waits for open connections.
    for (const { raw } of asked) raw.socket.destroy();
    await closed;
    for (const { raw, path, status, body } of asked) {
      assert.equal(raw.answers[0]?.status, status, path);
      assert.match(raw.answers[0]?.body ?? "", body, path);
    }
  });

  it("does not report the end of a run that the next server will resume", async () => {
    const { tool } = heldTool();
    const script = ["word ".repeat(500), { content: [scriptedToolCall("wait", {}, "w")] }];
    const server = await gatewayWith(script, {
      tools: () => [tool],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
      pace: { delayMs: 2 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey: "run" });
    await client.event("chat.delta", "run");
    await client.call("chat.send", { sessionKey: "t", message: "wait", idempotencyKey: "waits" });
    await client.event("chat.tool_call", "waits");
    const closing = server.gateway.close();
    await client.event("shutdown");
    for (let times = 0; times < 20; times++) {
      const { runs } = await client.call("chat.subscribe", { sessionKey: "s" });
      assert.equal(runs[0]?.state, "running");
    }
    const { seq } = client.ofRun("run").at(-1)?.data ?? {};
    const asked = { authorization: `Bearer ${token}`, "last-event-id": String(seq) };
    const answer = await fetch(`${server.gateway.url}/api/runs/run/events`, { headers: asked });
    assert.deepEqual(
      [answer.status, /event: (.+)/.exec(await answer.text())?.[1]],
      [200, "shutdown"],
    );
    await closing;
  });

  it("still lists a message whose run was about to begin", async () => {
    const { tool } = heldTool();
    let begin = (): void => {};
    const mayBegin = new Promise<void>((resolve) => (begin = resolve));
    let prompts = 0;
    const server = await gatewayWith([{ content: [scriptedToolCall("wait", {}, "w")] }], {
      tools: () => [tool],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
      systemPrompt: () => (prompts++ === 0 ? "Fast." : mayBegin.then(() => "Slow.")),
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "t", message: "wait", idempotencyKey: "waits" });
    await client.event("chat.tool_call", "waits");
    await client.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey: "run" });
    const closing = server.gateway.close();
    await client.event("shutdown");
    begin();
    for (let times = 0; times < 20; times++) {
      const { waiting } = await client.call("chat.history", { sessionKey: "s" });
      assert.deepEqual(waiting, [{ messageId: "run", kind: "send", text: "go" }]);
    }
    await closing;
  });

  it("waits no longer than the grace period for stalled clients and for a tool that never ends", async () => {
    const { tool } = heldTool();
    const server = await gatewayWith(
      ["x".repeat(16 * 1024 * 1024), { content: [scriptedToolCall("wait", {}, "w")] }],
      {
        limits: { closeGraceMs: 300, maxBufferedBytes: 64 * 1024 * 1024 },
        pace: { deltaLength: 1024 * 1024 },
        tools: () => [tool],
        rules: { judge: () => ({ action: "allow" }), add: async () => {} },
      },
    );
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const auth = `host: localhost\r\nauthorization: Bearer ${token}\r\n`;
    const stalled = await begun(
      server,
      `GET /api/runs/${runId}/events?seq=-1 HTTP/1.1\r\n${auth}\r\n`,
    );
    stalled.pause();
    const silent = await server.client();
    await silent.call("chat.subscribe", { sessionKey: "s" });
    silent.socket.pause();
    const slow = await begun(server, "GET / HTTP/1.1\r\nhost: loc");
    await client.end(runId);
    await client.call("chat.send", { sessionKey: "s", message: "wait", idempotencyKey: "waits" });
    await client.event("chat.tool_call", "waits");
    const ms = await msOf(server.gateway.close());
    assert.ok(ms >= 290 && ms < 30_000, `${ms}`);
    for (const socket of [stalled, slow]) socket.destroy();
    for (const { socket } of [client, silent]) socket.terminate();
  });
});
