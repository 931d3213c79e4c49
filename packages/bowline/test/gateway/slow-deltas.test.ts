/** Deltas that wait for a slow client: none is lost, and their size is counted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import type { Frame } from "../../src/gateway/log/outbox.ts";
import { outboxOf, type SlowSocket } from "./slow-socket.ts";

const large: Frame = { json: "x".repeat(200 * 1024) };

function delta(seq: number, text: string): Frame {
  const data = { runId: "r", sessionKey: "s", turn: 0, seq, text };
  const json = JSON.stringify({ event: "chat.delta", data });
  return { json, runId: "r", seq, event: "chat.delta", delta: data };
}

const textOf = ({ sent }: SlowSocket): string =>
  sent
    .filter((json) => json.startsWith("{"))
    .map((json) => (JSON.parse(json) as { data: { text: string } }).data.text)
    .join("");

describe("deltas for a slow client", () => {
  it("are all sent, also when the client falls behind again after the last one", () => {
    const { outbox, socket } = outboxOf();
    outbox.push(large);
    outbox.push(delta(0, "a"));
    socket.take();
    outbox.push(large);
    outbox.push(delta(1, "b"));
    outbox.push(delta(2, "c"));
    socket.take();
    assert.equal(textOf(socket), "abc");
  });

  it("count towards the limit while they wait, joined ones too", () => {
    const { outbox, isFull } = outboxOf(100 * 1024);
    outbox.push(large);
    for (let seq = 0; seq < 10; seq++) outbox.push(delta(seq, "y".repeat(4000)));
    assert.equal(isFull(), false);
    for (let seq = 10; seq < 30; seq++) outbox.push(delta(seq, "y".repeat(4000)));
    assert.equal(isFull(), true);
  });

  it("no longer count once they were sent", () => {
    const { outbox, socket, isFull } = outboxOf(100 * 1024);
    let seq = 0;
    for (let round = 0; round < 20; round++) {
      outbox.push(large);
      for (let count = 0; count < 10; count++) outbox.push(delta(seq++, "y".repeat(4000)));
      assert.equal(isFull(), false, `round ${round}`);
      socket.take();
      socket.take();
    }
    outbox.push(large);
    for (let count = 0; count < 15; count++) outbox.push(delta(seq++, "y".repeat(4000)));
    assert.equal(isFull(), true);
  });
});

it("only deltas of text and thinking may be joined", () => {
  const joinable: string[] = [];
  const log = new RunLog({
    runId: "r",
    sessionKey: "s",
    maxEvents: 100,
    maxLength: 1e6,
    publish: (frame, event) => {
      if ("delta" in frame) joinable.push(event);
    },
  });
  log.append("chat.user", { text: "Hi" });
  log.append("chat.thinking", { turn: 0, text: "hm" });
  log.append("chat.delta", { turn: 0, text: "Hello" });
  log.append("chat.final", { usage: {}, turns: 1 } as never);
  assert.deepEqual(joinable, ["chat.thinking", "chat.delta"]);
});
