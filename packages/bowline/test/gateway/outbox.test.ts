import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Frame } from "../../src/gateway/log/outbox.ts";
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import { gatewayWith, token, wait } from "./gateway.ts";
import { outboxOf, type SlowSocket } from "./slow-socket.ts";
import { RawSocket } from "../fuzz/raw-socket.ts";

function framesOf(texts: readonly string[]): Frame[] {
  const frames: Frame[] = [];
  const publish = (frame: Frame): void => void frames.push(frame);
  const log = new RunLog({ runId: "r", sessionKey: "s", maxEvents: 1000, maxLength: 1e9, publish });
  for (const text of texts) log.append("chat.delta", { turn: 0, text });
  return frames;
}

const blocked: Frame = { json: "x".repeat(200 * 1024) };
const deltasOf = ({ sent }: SlowSocket): EventFrame<"chat.delta">["data"][] =>
  sent.slice(1).map((json) => (JSON.parse(json) as EventFrame<"chat.delta">).data);

describe("the outbox of a slow client", () => {
  it("joins consecutive deltas only, and keeps a replay separate", () => {
    const { outbox, socket } = outboxOf();
    const frames = framesOf(["a", "b", "c"]);
    outbox.push(blocked);
    for (const frame of [...frames, ...frames]) outbox.push(frame);
    socket.read();
    assert.deepEqual(
      deltasOf(socket).map(({ firstSeq, seq, text }) => [firstSeq, seq, text]),
      [
        [0, 2, "abc"],
        [0, 2, "abc"],
      ],
    );
  });

  it("joins deltas into frames of limited size", () => {
    const { outbox, socket } = outboxOf(100 * 1024 * 1024);
    outbox.push(blocked);
    for (const frame of framesOf(Array.from({ length: 500 }, () => "y".repeat(4000))))
      outbox.push(frame);
    socket.read();
    const deltas = deltasOf(socket);
    assert.ok(deltas.length < 50, `${deltas.length} frames`);
    assert.ok(Math.max(...deltas.map(({ text }) => text.length)) < 80_000);
    assert.equal(deltas.map(({ text }) => text).join(""), "y".repeat(2_000_000));
    assert.equal(deltas.at(-1)?.seq, 499);
  });

  it("may hold one frame larger than the limit, and no more", () => {
    for (const bound of [300 * 1024, 64 * 1024]) {
      const { outbox, isFull } = outboxOf(bound);
      outbox.push({ json: "x".repeat(5 * 1024 * 1024) });
      outbox.push({ json: "small" });
      assert.equal(isFull(), false, String(bound));
      outbox.push({ json: "x".repeat((2 / 3) * bound) });
      assert.equal(isFull(), true);
    }
  });

  it("delays a caller that waits for room until frames were read, or the outbox is closed", async () => {
    const { outbox, socket } = outboxOf();
    let rooms = 0;
    const room = (): void => void outbox.room().then(() => rooms++);
    room();
    await wait(1);
    assert.equal(rooms, 1);
    outbox.push(blocked);
    room();
    await wait(1);
    assert.equal(rooms, 1);
    socket.read();
    await wait(1);
    assert.equal(rooms, 2);
    outbox.push(blocked);
    room();
    outbox.close();
    await wait(1);
    assert.equal(rooms, 3);
  });
});

describe("a client with many requests at once", () => {
  it("gets all responses, even if together they exceed the limit", async () => {
    await using server = await gatewayWith([], { limits: { maxBufferedBytes: 64 * 1024 } });
    const client = await server.client();
    const history = "z".repeat(15_000);
    for (let count = 0; count < 20; count++) {
      server.model.push("Yes.");
      const { runId } = await client.call("chat.send", { sessionKey: "s", message: history });
      await client.end(runId);
    }
    const asked = Array.from({ length: 15 }, () =>
      client.call("chat.history", { sessionKey: "s" }),
    );
    for (const { messages } of await Promise.all(asked)) assert.equal(messages.length, 40);
  });

  it("can stop a run before it has read earlier responses", async () => {
    await using server = await gatewayWith([], { pace: { deltaLength: 1000, delayMs: 5 } });
    const [raw, client] = [await RawSocket.open(server.gateway.port), await server.client()];
    raw.text(JSON.stringify({ type: "auth", token }));
    for (let count = 0; count < 20; count++) {
      server.model.push("Yes.");
      const before = await client.call("chat.send", {
        sessionKey: "s",
        message: "m".repeat(20_000),
      });
      await client.end(before.runId);
    }
    server.model.push("word ".repeat(1_000_000));
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    raw.socket.pause();
    for (let id = 0; id < 60; id++)
      raw.text(JSON.stringify({ id, method: "chat.history", params: { sessionKey: "s" } }));
    raw.text(JSON.stringify({ id: "stop", method: "chat.abort", params: { runId } }));
    assert.equal((await client.end(runId)).event, "chat.aborted");
    raw.socket.destroy();
  });
});
