import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import {
  GatewayClient,
  RequestError,
  type ClientOptions,
} from "../../src/gateway/client/client.ts";
import { closeCodes } from "../../src/gateway/protocol/frame.ts";
import { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";
import { listenersOf } from "./scripted-server.ts";
import { eventually, within } from "../../../../test/support/within.ts";

/** A client whose sockets can be cut. */
function clientOf(
  { gateway }: TestGateway,
  options: Partial<ClientOptions> = {},
): GatewayClient & { cut(): void } & Disposable {
  const sockets: WebSocket[] = [];
  class Kept extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  const client = new GatewayClient({
    url: gateway.url,
    token,
    WebSocket: Kept,
    backoff: { firstMs: 10, maxMs: 50 },
    ...options,
  });
  const cut = (): void => sockets.at(-1)?.terminate();
  const dispose = (): void => {
    client.close();
    assert.equal(client.state, "ended");
  };
  return Object.assign(client, { cut, [Symbol.dispose]: dispose });
}

describe("the client", () => {
  it("yields a run's events in order, and its result", async () => {
    await using server = await gatewayWith(["Hello there."]);
    using client = clientOf(server);
    await within("the client is ready", client.ready());
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    const names: string[] = [];
    for await (const { event } of run) names.push(event);
    assert.deepEqual([names[0], names.at(-1)], ["chat.user", "chat.final"]);
    const { text, end } = await run.result();
    assert.deepEqual([text, end.event], ["Hello there.", "chat.final"]);
  });

  it("resumes the run's events when it is connected again", async () => {
    const { tool, release } = heldTool();
    const script = [{ content: [scriptedToolCall("wait", {}, "w")] }, "Done."];
    const rules = { judge: () => ({ action: "allow" as const }), add: async () => {} };
    await using server = await gatewayWith(script, { tools: () => [tool], rules });
    using client = clientOf(server);
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    for await (const { event } of run) if (event === "chat.tool_call") break;
    for (let cuts = 0; cuts < 2; cuts++) {
      const isCut = new Promise<void>((resolve) => {
        const stop = client.onState((state) => {
          if (state !== "open") return;
          stop();
          resolve();
        });
      });
      client.cut();
      await within("the client is in again", isCut);
    }
    release();
    assert.equal((await within("the run ends", run.result())).text, "Done.");
  });

  it("rejects pending requests at once when it is closed, and makes no other connection", async () => {
    await using server = await gatewayWith(["Hello."]);
    const sockets: WebSocket[] = [];
    class Unclosed extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
      override send(data: string): void {
        if (!data.includes("health.check")) super.send(data);
      }
      override close(): void {}
    }
    using client = clientOf(server, { WebSocket: Unclosed, backoff: { firstMs: 1 } });
    await client.ready();
    const asking = client.request("health.check", {});
    await new Promise((resolve) => setImmediate(resolve));
    client.close();
    await assert.rejects(within("the request is rejected", asking, 5000), {
      code: "connection_lost",
    });
    const [socket] = sockets;
    assert.ok(socket);
    const gone = once(socket, "close");
    socket.terminate();
    await gone;
    await wait(20);
    assert.deepEqual([sockets.length, client.state], [1, "ended"]);
  });

  it("ends when the server closes its connection as not authorized, without a refusal", async () => {
    const refusing = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(refusing, "listening");
    refusing.on("connection", (socket) => socket.close(closeCodes.unauthorized));
    const { port } = refusing.address() as AddressInfo;
    const client = new GatewayClient({
      url: `ws://127.0.0.1:${port}`,
      token,
      WebSocket,
      backoff: { firstMs: 1, maxMs: 1 },
    });
    try {
      await assert.rejects(within("the client gives up", client.ready(), 5000), RequestError);
      assert.equal(client.state, "ended");
    } finally {
      client.close();
      refusing.close();
    }
  });

  it("resumes after lost connections with every event once", async () => {
    const text = "word ".repeat(120).trim();
    await using server = await gatewayWith([text], { pace: { delayMs: 2 } });
    using client = clientOf(server);
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    let [last, cuts, said] = [-1, 0, ""];
    for await (const { event, data } of run) {
      assert.ok(
        event === "chat.snapshot" || data.seq === last + 1,
        `${event} ${data.seq} after ${last}`,
      );
      last = data.seq;
      if (event === "chat.delta") said += data.text;
      if (cuts < 4 && data.seq > 10 * (cuts + 1)) {
        cuts++;
        client.cut();
      }
    }
    assert.deepEqual([cuts, said], [4, text]);
  });

  it("resends a message whose answer was lost, and it runs once", async () => {
    await using server = await gatewayWith(["Once."]);
    using client = clientOf(server);
    await client.ready();
    const sending = client.send({ sessionKey: "s", message: "Hi" });
    await Promise.resolve();
    client.cut();
    const { end } = await within("the run ends", (await sending).result(), 5000);
    assert.equal(end.event, "chat.final");
    assert.equal(server.model.calls.length, 1);
  });

  it("reconnects after a restart, and gets the end of the interrupted run", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const first = await gatewayWith(["word ".repeat(2000)], {
      store,
      pending,
      pace: { delayMs: 5 },
    });
    using client = clientOf(first);
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    for await (const { event } of run) if (event === "chat.delta") break;
    const { port } = first.gateway;
    await first.gateway.close();
    await using second = await gatewayWith(["At last."], { store, pending, port });
    assert.equal((await run.result()).text, "At last.");
    assert.equal(second.model.calls.length, 1);
  });

  it("tells each state once, in order, and none after the end", async () => {
    await using server = await gatewayWith([]);
    using client = clientOf(server);
    const states: string[] = [];
    const stop = client.onState((state) => states.push(state));
    client.onState(() => states.push("other"))();
    await client.ready();
    client.cut();
    await eventually("the client is in again", () => states.length === 4);
    client.close();
    client.close();
    assert.deepEqual(states, ["open", "waiting", "connecting", "open", "ended"]);
    stop();
  });

  it("does not retry with a wrong token", async () => {
    await using server = await gatewayWith([]);
    using client = clientOf(server, { token: "wrong" });
    const ready = within("the client gives up", client.ready());
    await assert.rejects(ready, (error: RequestError) => error.code === "unauthorized");
    assert.equal(client.state, "ended");
    await assert.rejects(client.request("health.check", {}), RequestError);
  });

  it("leaves no timer when it is closed or refused, which would keep a process alive", async () => {
    await using server = await gatewayWith(["Hello."]);
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    for (const own of [token, "wrong"]) {
      const client = clientOf(server, { token: own });
      await client.ready().catch(() => {});
      if (own === token) await (await client.send({ sessionKey: "s", message: "Hi" })).result();
      client.close();
      await eventually("its timers are gone", () => timers() <= before);
    }
  });

  it("rejects a refused request with its error code", async () => {
    await using server = await gatewayWith([]);
    using client = clientOf(server);
    await assert.rejects(
      client.request("sessions.get", { sessionKey: "none" }),
      (error: RequestError) => {
        assert.deepEqual([error.code, error.number, error.retryable], ["not_found", -32004, false]);
        return true;
      },
    );
  });

  it("rejects a request that exceeds the frame size, without sending it", async () => {
    await using server = await gatewayWith(["Hello."]);
    let connections = 0;
    class Counted extends WebSocket {
      constructor(url: string) {
        super(url);
        connections++;
      }
    }
    using client = clientOf(server, { WebSocket: Counted });
    const attachments = [{ mimeType: "image/png" as const, data: "AAAA".repeat(300_000) }];
    for (const ask of [
      () => client.send({ sessionKey: "s", message: "Hi", attachments }),
      () => client.request("chat.history", { sessionKey: "é".repeat(600_000) }),
    ]) {
      const refused = Promise.race([ask(), wait(30_000).then(() => assert.fail("it waits"))]);
      await assert.rejects(refused, (error: RequestError) => {
        assert.match(error.message, /longer than the 1048576 bytes that the server accepts/);
        return error.code === "bad_request" && !error.retryable;
      });
    }
    assert.equal(
      (await (await client.send({ sessionKey: "s", message: "Hi" })).result()).text,
      "Hello.",
    );
    assert.equal(connections, 1);
  });

  it("says that it was closed, and asks for a WebSocket class where none is built in", async () => {
    await using server = await gatewayWith([]);
    const client = clientOf(server);
    await client.ready();
    client.close();
    await assert.rejects(client.request("health.check", {}), (error: RequestError) => {
      assert.equal(error.message, "The client was closed.");
      return !error.retryable;
    });
    const own = globalThis.WebSocket;
    try {
      Object.assign(globalThis, { WebSocket: undefined });
      assert.throws(
        () => new GatewayClient({ url: server.gateway.url, token }),
        /no global WebSocket\. .*pass the class of ws/,
      );
    } finally {
      Object.assign(globalThis, { WebSocket: own });
    }
  });

  it("follows and stops a run that another client began", async () => {
    await using server = await gatewayWith(["word ".repeat(300)], { pace: { delayMs: 5 } });
    using one = clientOf(server);
    using two = clientOf(server);
    const run = await one.send({ sessionKey: "s", message: "Hi" });
    const followed = await two.follow("s", run.runId);
    await followed.abort();
    const ends = await Promise.all([run.result(), followed.result()]);
    assert.deepEqual(
      ends.map(({ end }) => end.event),
      ["chat.aborted", "chat.aborted"],
    );
    await assert.rejects((await two.follow("s", "gone")).result(), RequestError);
  });

  it("removes its listener for a run that was refused", async () => {
    await using server = await gatewayWith([]);
    using client = clientOf(server);
    const listening = listenersOf(client);
    await assert.rejects(client.follow("s".repeat(1000), "run"), { code: "bad_params" });
    await assert.rejects(client.send({ sessionKey: "s".repeat(1000), message: "Hi" }), {
      code: "bad_params",
    });
    assert.equal(listening.size, 0);
  });

  it("renews all subscriptions, also more than the limit of pending requests", async () => {
    await using server = await gatewayWith([], { limits: { maxPendingRequests: 4 } });
    const answers: { readonly error?: unknown }[] = [];
    let last: WebSocket | undefined;
    class Watched extends WebSocket {
      constructor(url: string) {
        super(url);
        last = this.on("message", (data: Buffer) => {
          const frame = JSON.parse(data.toString()) as { readonly error?: unknown };
          if ("id" in frame) answers.push(frame);
        });
      }
    }
    using client = clientOf(server, { WebSocket: Watched });
    for (let session = 0; session < 20; session++) await client.subscribe(`session ${session}`);
    answers.length = 0;
    last?.terminate();
    await eventually("all are renewed", () => answers.length >= 20);
    assert.deepEqual(
      answers.filter(({ error }) => error !== undefined),
      [],
    );
  });

  it("replaces a connection without ticks", async () => {
    await using real = await gatewayWith([]);
    const { welcome } = await real.client();
    const silent = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    const connections: WebSocket[] = [];
    silent.on("connection", (socket) => {
      connections.push(socket);
      const limits = { ...welcome.limits, tickIntervalMs: 20 };
      socket.on("message", () => socket.send(JSON.stringify({ ...welcome, limits })));
    });
    await once(silent, "listening");
    using client = clientOf(real, {
      url: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    });
    await client.ready();
    await eventually("another connection is made", () => connections.length >= 2);
    client.close();
    for (const socket of connections) socket.terminate();
    silent.close();
    assert.equal(client.state, "ended");
  });

  it("replaces a connection on which authentication never finishes", async () => {
    await using real = await gatewayWith([], { limits: { tickIntervalMs: 20 } });
    let isDead = false;
    const connections: Socket[] = [];
    const proxy = createServer((down) => {
      connections.push(down);
      down.on("error", () => {});
      if (isDead) return;
      const up = connect(real.gateway.port, "127.0.0.1").on("error", () => {});
      down.on("close", () => up.destroy());
      down.pipe(up).pipe(down);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    using client = clientOf(real, {
      url: `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    });
    await client.ready();
    isDead = true;
    client.cut();
    try {
      await eventually("the client tries another connection", () => connections.length >= 3);
      isDead = false;
      await eventually("the client is let in again", () => client.state === "open");
    } finally {
      client.close();
      proxy.close();
      for (const connection of connections) connection.destroy();
    }
  });

  it("rejects the result of a run that the restarted server does not know", async () => {
    const first = await gatewayWith(["word ".repeat(2000)], { pace: { delayMs: 5 } });
    using client = clientOf(first);
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    for await (const { event } of run) if (event === "chat.delta") break;
    const { port } = first.gateway;
    await first.gateway.close();
    await using second = await gatewayWith([], { port });
    await assert.rejects(run.result(), { code: "not_found" });
    assert.equal(second.model.calls.length, 0);
  });

  it("rejects the result of an interrupted run that is not resumed", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    await session.append({ type: "run_start", runId: "left" });
    await session.append({
      type: "message",
      runId: "left",
      message: { role: "user", content: "Hi", timestamp: 1 },
    });
    await session.close();
    await using server = await gatewayWith([], { store });
    using client = clientOf(server);
    const run = await client.follow("s", "left");
    const events: string[] = [];
    for await (const { event } of run) events.push(event);
    assert.deepEqual(events, ["chat.snapshot"]);
    await assert.rejects(run.result(), { code: "not_found" });
  });

  it("replays an ended run when it is followed or sent again", async () => {
    await using server = await gatewayWith(["Hello."]);
    using client = clientOf(server);
    const params = { sessionKey: "s", message: "Hi", idempotencyKey: "one" };
    await (await client.send(params)).result();
    for (const again of [() => client.follow("s", "one"), () => client.send(params)]) {
      const run = await again();
      const events: string[] = [];
      for await (const { event } of run) events.push(event);
      assert.deepEqual(events, ["chat.snapshot", "chat.final"]);
      assert.equal((await run.result()).text, "Hello.");
    }
    assert.equal(server.model.calls.length, 1);
  });

  it("renews the subscription when the connection is lost right after its answer", async () => {
    await using server = await gatewayWith(["Hello.", "Else."]);
    using other = clientOf(server);
    await (await other.send({ sessionKey: "s", message: "Hi", idempotencyKey: "one" })).result();
    let isArmed = true;
    class Cut extends WebSocket {
      override emit(event: string, ...given: unknown[]): boolean {
        if (event === "message" && this.readyState !== WebSocket.OPEN) return false;
        const isEmitted = super.emit(event, ...given);
        if (event === "message" && isArmed && String(given[0]).includes('"runs":[{"runId":"one"')) {
          isArmed = false;
          this.terminate();
        }
        return isEmitted;
      }
    }
    using client = clientOf(server, { WebSocket: Cut });
    const run = await client.follow("s", "one");
    assert.equal((await run.result()).text, "Hello.");
    assert.equal(isArmed, false);
  });

  it("waits longer each time while the server is too busy to renew a subscription", async () => {
    await using server = await gatewayWith([]);
    let busy = 0;
    const sockets: WebSocket[] = [];
    class Busy extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }

      override emit(event: string, ...given: unknown[]): boolean {
        const text = String(given[0]);
        if (event !== "message" || busy === 0 || !text.includes('"runs":'))
          return super.emit(event, ...given);
        busy--;
        const { id } = JSON.parse(text) as { readonly id: number };
        const error = new GatewayError("busy", "Wait.", { retryable: true }).frame;
        return super.emit(event, Buffer.from(JSON.stringify({ id, error })), false);
      }
    }
    const waits: number[] = [];
    const random = (): number => {
      waits.push(performance.now());
      return 0;
    };
    using client = clientOf(server, { WebSocket: Busy, random });
    await client.subscribe("s");
    busy = 3;
    sockets[0]?.terminate();
    await eventually(
      "the client asks until it is answered",
      () => waits.length === 4 && busy === 0,
    );
    // The first wait is that of the new connection.
    const [, first = 0, second = 0, third = 0] = waits;
    assert.ok(second - first >= 4 && third - second >= 9, waits.join(" "));
  });
});
