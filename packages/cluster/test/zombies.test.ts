/** Attempts that were taken over, and runs that are over: nothing of them is heard. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settle } from "../../../test/support/manual-clock.ts";
import { eventHead } from "../src/wire/messages.ts";
import { toPayloads } from "../src/wire/parcel.ts";
import { Subjects } from "../src/wire/subjects.ts";
import type { FakeBus } from "./support/fake-bus.ts";
import { PlainClient, RUN, SESSION, World, type Gateway } from "./support/world.ts";

/** Publishes as a process that knows nothing of the others. */
async function haunt(world: World, attempt: number, seq: number): Promise<void> {
  const zombie = world.network.node();
  const about = { runId: RUN, sessionKey: SESSION };
  const bodies = {
    "chat.delta": { ...about, seq, turn: 0, text: "ZOMBIE" },
    "chat.snapshot": { ...about, seq: seq + 1, state: "running", blocks: [] },
    "chat.error": { ...about, seq: seq + 2, message: "ZOMBIE" },
  } as const;
  for (const [event, data] of Object.entries(bodies)) {
    const place = { runId: RUN, attempt, seq: data.seq };
    const head = eventHead(place, event as keyof typeof bodies);
    for (const payload of toPayloads(head, JSON.stringify({ event, data }), 1e6) ?? [])
      zombie.publish(new Subjects("bowline").run(SESSION), payload);
  }
  await world.heal();
}

/** Follows the session and no run in particular. */
async function followSession(world: World, { relay, listeners }: Gateway): Promise<PlainClient> {
  const client = new PlainClient();
  const following = relay.follow({ sessionKey: SESSION });
  await world.heal();
  const { missed } = await following;
  listeners.add(client);
  for (const { event, frame } of missed()) client.event(event, frame);
  listeners.subscribe(client, SESSION);
  return client;
}

describe("a client", () => {
  it("hears nothing of an attempt that was taken over", async () => {
    const world = await World.create();
    world.stream();
    const client = await followSession(world, world.gateways[0] as Gateway);
    world.begin(1);
    world.stream();
    await world.heal();
    const before = client.frames.length;
    await haunt(world, 1, 1);
    assert.equal(client.frames.length, before);
    assert.equal(client.text, world.text);
    await world.end();
    await world.heal();
    assert.deepEqual([client.ends, client.faults], [1, []]);
    world.close();
  });

  it("hears no end that the stored session does not have", async () => {
    const world = await World.create();
    world.stream();
    const client = await followSession(world, world.gateways[0] as Gateway);
    await haunt(world, 1, 1); // as the attempt itself, with an end that is never stored
    assert.equal(client.ends, 0);
    world.begin(1);
    world.stream();
    await world.end();
    await world.heal();
    assert.deepEqual([client.ends, client.text], [1, world.text]);
    world.close();
  });

  it("gets the end from a gateway that hears only of an attempt before the one it knows", async () => {
    const world = await World.create();
    world.stream();
    world.endInVain();
    world.begin(1);
    world.stream();
    const [first, client] = [world.gateways[0] as Gateway, new PlainClient()];
    const joining = world.join(client, first);
    await world.heal();
    await joining;
    first.listeners.delete(client);
    await world.end();
    await world.heal();
    // The worker of the second attempt answers too late.
    (world.buses.at(-1) as FakeBus).isConnected = false;
    const again = world.join(client, world.addGateway());
    for (let round = 0; round < 5; round++) {
      world.network.deliverAll();
      await settle();
      await world.clock.advance(1000);
    }
    await again;
    assert.deepEqual([client.ends, client.text, client.faults], [1, world.text, []]);
    world.close();
  });

  it("hears nothing after the end, nor of a run that was over before it came", async () => {
    const world = await World.create();
    const early = await followSession(world, world.gateways[0] as Gateway);
    world.stream();
    await world.end();
    await world.heal();
    const late = await followSession(world, world.gateways[1] as Gateway);
    const [seen, nothing] = [early.frames.length, late.frames.length];
    assert.deepEqual([early.ends, nothing], [1, 0]);
    for (const attempt of [1, 2, 9]) {
      await haunt(world, attempt, 0);
      await settle();
      await haunt(world, attempt, attempt * 10_000_000);
    }
    assert.deepEqual([early.frames.length, late.frames.length], [seen, 0]);
    world.close();
  });
});
