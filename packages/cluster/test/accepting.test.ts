/** What a gateway's engine needs besides following: events that wait for a response, and approvals. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunPublisher } from "@bowline/cluster";
import { createSecretFilter } from "bowline/engine";
import { settle } from "../../../test/support/manual-clock.ts";
import { asked, delta, ended } from "../../../test/support/agent-events.ts";
import { PlainClient, RUN, SESSION, World, type Gateway } from "./support/world.ts";

const about = { sessionKey: SESSION, runId: "new", attempt: 7, isRepeated: false };

function workerIn(world: World): RunPublisher {
  const filter = createSecretFilter([]);
  return new RunPublisher({ bus: world.network.node(), filter, clock: world.clock });
}

async function calm(world: World): Promise<void> {
  for (let round = 0; round < 5; round++) {
    world.network.deliverAll();
    await settle();
  }
}

describe("the events of a run that this gateway accepts", () => {
  it("wait until the response is sent, and are complete then", async () => {
    const world = await World.create();
    const { relay, listeners } = world.gateways[0] as Gateway;
    const publisher = workerIn(world);
    const start = await relay.expect(SESSION, "new");
    publisher.tell(about, delta("new", "a "));
    await calm(world);
    const client = new PlainClient();
    listeners.add(client);
    listeners.subscribe(client, SESSION);
    publisher.tell(about, delta("new", "b "));
    await calm(world);
    assert.deepEqual(client.frames, []);
    start();
    start();
    assert.equal(client.text, "a b ");
    publisher.tell(about, delta("new", "c "));
    await calm(world);
    assert.deepEqual([client.text, client.faults], ["a b c ", []]);
    publisher.close();
    world.close();
  });

  it("are those of a queued run until they begin", async () => {
    const world = await World.create();
    const { relay } = world.gateways[0] as Gateway;
    const start = await relay.expect(SESSION, "new");
    start();
    const following = relay.follow({ sessionKey: SESSION, runId: "new" });
    await world.heal();
    const { runs, missed } = await following;
    missed();
    assert.deepEqual(
      runs.map(({ runId, state }) => [runId, state]),
      [
        [RUN, "running"],
        ["new", "queued"],
      ],
    );
    world.close();
  });

  it("say that a message waits, when the worker is told", async () => {
    const world = await World.create();
    world.stream();
    const { relay, listeners } = world.gateways[0] as Gateway;
    const client = new PlainClient();
    const following = relay.follow({ sessionKey: SESSION });
    await world.heal();
    for (const { event, frame } of (await following).missed()) client.event(event, frame);
    listeners.add(client);
    listeners.subscribe(client, SESSION);
    const queued = { messageId: "m", kind: "steer", text: "Also…" } as const;
    relay.tellQueued({ sessionKey: SESSION, runId: RUN, queued });
    relay.tellQueued({ sessionKey: SESSION, runId: "other", queued });
    await calm(world);
    const told = client.frames.filter(({ name }) => name === "chat.queued");
    assert.deepEqual(
      told.map(({ data }) => data.text),
      ["Also…"],
    );
    assert.deepEqual(client.faults, []);
    world.close();
  });
});

describe("approvals", () => {
  it("reach clients that do not follow the session, once over all attempts", async () => {
    const world = await World.create();
    const { listeners } = world.gateways[0] as Gateway;
    const names: string[] = [];
    const ann = { sessions: "ann/", event: (name: string) => void names.push(`ann ${name}`) };
    const bob = { sessions: "bob/", event: (name: string) => void names.push(`bob ${name}`) };
    for (const listener of [ann, bob]) listeners.add(listener);
    const [first, second] = [workerIn(world), workerIn(world)];
    first.tell(about, asked("new", "q", { command: "ls" }));
    await calm(world);
    const again = { ...about, attempt: 8, isRepeated: true };
    second.tell(again, asked("new", "q", { command: "ls" }));
    second.tell(again, delta("new", "goes live"));
    await calm(world);
    assert.deepEqual(names, ["ann exec.approval_request"]);
    for (const publisher of [first, second]) publisher.close();
    world.close();
  });

  it("of a run that is over are not shown", async () => {
    const world = await World.create();
    world.stream();
    await world.end();
    const { listeners } = world.gateways[0] as Gateway;
    const names: string[] = [];
    listeners.add({ event: (name) => void names.push(name) });
    const publisher = workerIn(world);
    const zombie = { ...about, runId: RUN };
    publisher.tell(zombie, asked(RUN, "q", { command: "ls" }));
    publisher.tell(zombie, ended(RUN));
    await calm(world);
    assert.deepEqual(names, []);
    publisher.close();
    world.close();
  });
});
