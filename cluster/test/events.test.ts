/** Live events of runs on Restate: a worker publishes them on NATS, and gateways relay them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { GatewayClient, RunEvent, RunHandle } from "bowline/client";
import {
  MovingClient,
  startRelayGateway,
  type RelayGateway,
} from "../../packages/cluster/test/support/gateways.ts";
import { clusterIsMissing, startHarness, type Harness } from "../kit/harness.ts";
import { natsIsMissing, startNats, type Nats } from "../kit/nats.ts";
import type { Turn } from "../kit/outside.ts";

describe("live events of runs on Restate", { skip: clusterIsMissing() || natsIsMissing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "bowline-events-"));
  let nats: Nats;
  let h: Harness;
  let gateways: RelayGateway[];
  before(async () => {
    nats = await startNats(folder);
    h = await startHarness({ worker: { nats: nats.url } });
    gateways = await Promise.all([0, 1].map(() => startRelayGateway(nats.url, h.store)));
  });
  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await h[Symbol.asyncDispose]();
    await nats[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(turns: readonly Turn[]): Promise<{
    readonly moving: MovingClient;
    readonly client: GatewayClient;
    readonly run: RunHandle;
    readonly name: string;
    readonly events: RunEvent[];
    readonly reading: Promise<void>;
  }> {
    const [sessionId, name] = [`ann/${randomUUID()}`, randomUUID()];
    await h.client.ensure(sessionId);
    const moving = new MovingClient(gateways);
    const { client } = moving;
    await client.ready();
    await client.subscribe(sessionId);
    const message = h.outside.script(
      name,
      turns.map((turn) => ({
        ...turn,
        ...(turn.calls && {
          calls: turn.calls.map((call) => ({ ...call, args: { script: name, ...call.args } })),
        }),
      })),
    );
    const sent = await h.client.submit(sessionId, { messageId: name, message, runId: name });
    assert.equal(sent.state, "accepted");
    await h.outside.when(name, ({ turns: asked }) => asked.length > 0);
    const run = await client.follow(sessionId, name);
    const events: RunEvent[] = [];
    const reading = (async () => {
      for await (const event of run) events.push(event);
    })();
    return { moving, client, run, name, events, reading };
  }

  const until = async (isTrue: () => boolean): Promise<void> => {
    const end = performance.now() + 20_000;
    while (!isTrue()) {
      assert.ok(performance.now() < end, `never: ${String(isTrue)}`);
      await setTimeout(5);
    }
  };

  it("a client gets the text while it streams, and the end when it is stored", async () => {
    const { client, run, events, reading } = await begin([{ text: "Hello.", ms: 500 }]);
    await until(() => JSON.stringify(events).includes("Hello."));
    assert.equal(events.at(-1)?.event === "chat.final", false);
    await reading;
    assert.equal((await run.result()).text, "Hello.");
    const entries = await h.entries(run.sessionKey);
    assert.ok(entries.some(({ type }) => type === "run_end"));
    client.close();
  });

  it("a client sees a run go on in another process, without what its dead attempt said", async () => {
    const turns = [{ calls: [{ name: "safe" }] }, { text: "The answer. ", ms: 1500 }];
    const { client, run, name, events, reading } = await begin(turns);
    await until(() => JSON.stringify(events).includes("The answer."));
    const seen = events.length;
    await h.worker.kill();
    await h.worker.start();
    await reading;
    const { text, end } = await run.result();
    assert.deepEqual([text, end.event], ["The answer. ", "chat.final"]);
    assert.deepEqual(h.outside.seen(name).turns, [0, 1, 1]);
    const later = events.slice(seen);
    assert.equal(later[0]?.event, "chat.snapshot");
    const blocks = later[0]?.event === "chat.snapshot" ? later[0].data.blocks : [];
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ["user", "tool_call"],
    );
    client.close();
  });

  it("a client that moves between gateways while the worker dies has each event once", async () => {
    const turns = Array.from({ length: 6 }, (_, turn) => ({
      calls: [{ name: "safe", args: { ms: 20 } }],
      text: `${turn} `,
      ms: 200,
    }));
    const { moving, client, run, events, reading } = await begin([...turns, { text: "End." }]);
    const moves = (async () => {
      for (let move = 0; move < 12; move++) {
        await setTimeout(120);
        moving.move();
      }
    })();
    await setTimeout(500);
    await h.worker.kill();
    await h.worker.start();
    await Promise.all([moves, reading]);
    assert.equal((await run.result()).text, "End.");
    let last = -1;
    for (const { event, data } of events) {
      if (event === "chat.snapshot") assert.ok(data.seq >= last);
      else if (last >= 0) assert.equal("firstSeq" in data ? data.firstSeq : data.seq, last + 1);
      last = data.seq;
    }
    client.close();
  });

  it("a client that comes after the end gets the stored run, and no worker is needed", async () => {
    const { client, run, reading } = await begin([{ text: "Stored." }]);
    await reading;
    client.close();
    await h.worker.kill();
    const later = new MovingClient(gateways.toReversed());
    await later.client.ready();
    const again = await later.client.follow(run.sessionKey, run.runId);
    const { text, end } = await again.result();
    assert.deepEqual([text, end.event], ["Stored.", "chat.final"]);
    later.client.close();
    await h.worker.start();
  });
});
