/** A client that moves between two gateways in the middle of a stream, many times. */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { RunEvent } from "bowline/client";
import { answered, delta, ended } from "../../../../test/support/agent-events.ts";
import { MovingClient, openRun, startRelayGateway, startWorker } from "./gateways.ts";

export interface MovesResult {
  readonly moves: number;
  readonly events: number;
  readonly snapshots: number;
}

/** Throws unless the client gets each event once and in order, and the whole text. */
export async function moveOften(servers: string, moves: number): Promise<MovesResult> {
  const about = { sessionKey: "ann/moves", runId: "r", attempt: 1, isRepeated: false };
  const { store, session } = await openRun(about.sessionKey, about.runId);
  const { publisher, bus } = await startWorker(servers);
  const gateways = await Promise.all([0, 1].map(() => startRelayGateway(servers, store)));
  const moving = new MovingClient(gateways);
  let text = "";
  const moved = new AbortController();
  const stream = async (): Promise<void> => {
    for (let count = 0; !moved.signal.aborted; count++) {
      const piece = `${count} `;
      text += piece;
      publisher.tell(about, delta(about.runId, piece));
      await setTimeout(1);
    }
    publisher.tell(about, answered(about.runId, text));
    publisher.tell(about, ended(about.runId));
    await session.append({ type: "run_end", runId: about.runId, reason: "done" });
  };
  try {
    publisher.tell(about, delta(about.runId, ""));
    const run = await moving.client.follow(about.sessionKey, about.runId);
    const events: RunEvent[] = [];
    const reading = (async () => {
      for await (const event of run) events.push(event);
    })();
    const streaming = stream();
    for (let move = 0; move < moves; move++) {
      const before = events.length;
      const limit = performance.now() + 20_000;
      while (events.length === before) {
        assert.ok(performance.now() < limit, `no event after move ${move}`);
        await setTimeout(1);
      }
      moving.move();
    }
    moved.abort();
    await streaming;
    await reading;
    const snapshots = check(events, text, (await run.result()).text);
    return { moves, events: events.length, snapshots };
  } finally {
    moved.abort();
    moving.client.close();
    publisher.close();
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await bus.close();
  }
}

function check(events: readonly RunEvent[], text: string, outcome: string): number {
  let last = events[0]?.data.seq ?? 0;
  let snapshots = 0;
  for (const { event, data } of events.slice(1)) {
    const isSnapshot = event === "chat.snapshot";
    if (isSnapshot) snapshots++;
    const first = "firstSeq" in data ? (data.firstSeq ?? data.seq) : data.seq;
    assert.ok(
      isSnapshot ? data.seq >= last : first === last + 1,
      `${event} ${first} after ${last}`,
    );
    last = data.seq;
  }
  assert.equal(events.at(-1)?.event, "chat.final");
  assert.equal(outcome, text);
  return snapshots;
}
