/** The client's connection, with a WebSocket and a clock of the test. */
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Link } from "../../src/gateway/client/link.ts";

const TICK_MS = 1000;
const welcome = { type: "auth", ok: true, limits: { tickIntervalMs: TICK_MS } };

class FakeSocket {
  readonly sent: string[] = [];
  closed = 0;
  readonly #listeners = new Map<string, (event: never) => void>();

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed++;
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }

  fire(type: "open" | "message" | "close", event: object = {}): void {
    this.#listeners.get(type)?.(event as never);
  }

  receive(frame: object): void {
    this.fire("message", { data: JSON.stringify(frame) });
  }
}

function connected(t: TestContext, options: { readonly name?: string } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets: FakeSocket[] = [];
  class WebSocket extends FakeSocket {
    constructor() {
      super();
      sockets.push(this);
    }
  }
  const events: unknown[] = [];
  const link = new Link(
    {
      url: "ws://a",
      token: "secret",
      WebSocket,
      random: () => 0.5,
      ...options,
    },
    { onOpen: () => {}, onEvent: (frame) => events.push(frame) },
  );
  const states: string[] = [];
  link.onState((state) => states.push(state));
  const [socket] = sockets;
  assert.ok(socket);
  return { link, socket, sockets, states, events, tick: (ms: number) => t.mock.timers.tick(ms) };
}

describe("the client's connection", () => {
  it("says who it is when it is open", (t) => {
    for (const options of [{}, { name: "ada" }]) {
      const { socket } = connected(t, options);
      assert.deepEqual(socket.sent, []);
      socket.fire("open");
      assert.deepEqual(
        socket.sent.map((text) => JSON.parse(text) as unknown),
        [
          {
            type: "auth",
            token: "secret",
            events: "all",
            ...("name" in options && { client: "ada" }),
          },
        ],
      );
      t.mock.timers.reset();
    }
  });

  it("doubles the wait between attempts up to ten seconds, of which a half is random", (t) => {
    const { link } = connected(t);
    assert.deepEqual(
      [0, 1, 2, 5, 6, 20].map((tries) => link.backoff(tries)),
      [187.5, 375, 750, 6000, 7500, 7500],
    );
  });

  it("takes no frame that is not a text, and none of a connection that it gave up", (t) => {
    const { socket, sockets, events, tick } = connected(t);
    socket.receive(welcome);
    const event = { event: "tick", data: {} };
    socket.fire("message", { data: new Uint8Array(1) });
    socket.receive(event);
    assert.equal(events.length, 1);
    socket.fire("close", { code: 1006 });
    tick(1000);
    assert.equal(sockets.length, 2);
    socket.receive(event);
    socket.fire("close", { code: 1006 });
    assert.equal(events.length, 1);
    tick(1000);
    assert.equal(sockets.length, 2);
  });

  it("is given up after two and a half intervals without a frame, and made anew", (t) => {
    const { socket, sockets, states, tick } = connected(t);
    socket.receive(welcome);
    tick(2.5 * TICK_MS - 1);
    socket.receive({ event: "tick", data: {} });
    tick(2.5 * TICK_MS - 1);
    assert.deepEqual([states, socket.closed], [["open"], 0]);
    tick(1);
    assert.deepEqual([states, socket.closed], [["open", "waiting"], 1]);
    tick(187);
    assert.equal(sockets.length, 1);
    tick(1);
    assert.deepEqual([sockets.length, states.at(-1)], [2, "connecting"]);
  });

  it("leaves no timer when it is closed, whatever still comes", (t) => {
    const { link, socket, sockets, tick } = connected(t);
    socket.receive(welcome);
    link.close();
    socket.receive({ event: "tick", data: {} });
    tick(100_000);
    assert.deepEqual([socket.closed, sockets.length, link.state], [1, 1, "ended"]);
  });

  it("waits once after a loss, and not for the silence of the lost connection too", (t) => {
    const { socket, sockets, states, tick } = connected(t);
    socket.receive({ ...welcome, limits: { tickIntervalMs: 40 } });
    socket.fire("close", { code: 1006 });
    tick(150);
    assert.deepEqual([states, socket.closed], [["open", "waiting"], 0]);
    tick(50);
    assert.equal(sockets.length, 2);
  });

  it("rejects what was asked when it is lost, and tells it once", async (t) => {
    const { link, socket } = connected(t);
    socket.receive(welcome);
    const { lost } = link;
    const asked = link.ask("health.check", {});
    socket.fire("close", { code: 1006 });
    await assert.rejects(asked, { code: "connection_lost", retryable: true });
    assert.equal(lost.aborted, true);
  });

  it("keeps nothing of what was asked on a lost connection", async (t) => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { link, socket } = connected(t);
    socket.receive(welcome);
    const asked = new WeakRef(link.ask("health.check", {}));
    const rejected = assert.rejects(asked.deref() ?? assert.fail(), { code: "connection_lost" });
    socket.fire("close", { code: 1006 });
    await rejected;
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    assert.equal(asked.deref(), undefined);
    link.close();
  });
});
