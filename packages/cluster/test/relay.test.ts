/** Each client gets each event once and in order, whatever happens to the bus, workers and gateways. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { settle } from "../../../test/support/manual-clock.ts";
import { PlainClient, World, type Gateway } from "./support/world.ts";
import { sweep } from "../../../test/support/sweep.ts";

type Step = readonly [name: string, index: number];

const names = [
  "stream stream stream stream deliver deliver deliver deliver commit takeOver zombie zombie lose lose",
  "repeat mix join leave cut mend wait end addGateway",
].flatMap((line) => line.split(" "));

const steps = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat({ max: 1000 })), {
  minLength: 1,
  maxLength: 60,
});

class Play {
  readonly world: World;
  readonly clients: PlainClient[] = [];
  readonly #at = new Map<PlainClient, Gateway>();
  readonly #joining = new Set<Promise<void>>();

  constructor(world: World) {
    this.world = world;
  }

  /** Two clients follow a run that streams. */
  async begin(): Promise<void> {
    this.world.stream();
    for (const index of [0, 3]) this.#join(index);
    for (let round = 0; round < 10; round++) {
      await settle();
      this.world.network.deliverAll();
    }
    await this.world.clock.advance(50); // the time to wait for other workers' answers
    await settle();
  }

  async step([name, index]: Step): Promise<void> {
    const { world } = this;
    const { network, clock } = world;
    if (name === "stream") world.stream();
    else if (name === "deliver") for (let count = index % 9; count >= 0; count--) network.deliver();
    else if (name === "commit") await world.commit();
    else if (name === "takeOver" && !world.isOver) world.begin(index);
    else if (name === "zombie") world.zombie(index);
    else if (name === "lose") network.lose(index);
    else if (name === "repeat") network.repeat(index);
    else if (name === "mix") network.deliver(index);
    else if (name === "cut") world.buses[index % world.buses.length]?.disconnect();
    else if (name === "mend") {
      const bus = world.buses[index % world.buses.length];
      if (bus?.isConnected === false) bus.reconnect();
    } else if (name === "wait") await clock.advance((index % 30) * 100);
    else if (name === "end" && index % 4 === 0) await world.end();
    else if (name === "addGateway" && world.gateways.length < 4) world.addGateway();
    else if (name === "join") this.#join(index);
    else if (name === "leave") this.#leave(index);
    await settle();
  }

  /** A new client, or one that left and comes back to any gateway. */
  #join(index: number): void {
    const away = this.clients.filter((client) => !this.#at.has(client) && client.ends === 0);
    const known = away[index % Math.max(1, away.length)];
    const client = index % 3 === 0 || known === undefined ? new PlainClient() : known;
    if (client !== known) this.clients.push(client);
    const gateway = this.world.gateways[index % this.world.gateways.length] as Gateway;
    this.#at.set(client, gateway);
    const joining = this.world.join(client, gateway).finally(() => this.#joining.delete(joining));
    this.#joining.add(joining);
  }

  #leave(index: number): void {
    if (this.#joining.size > 0) return;
    const [client, gateway] = [...this.#at][index % Math.max(1, this.#at.size)] ?? [];
    if (client === undefined || gateway === undefined) return;
    gateway.listeners.delete(client);
    this.#at.delete(client);
  }

  /** Everything works again, and the run ends: each client has the whole run. */
  async finish(): Promise<void> {
    await this.world.heal();
    await Promise.all(this.#joining);
    for (const client of this.clients)
      if (!this.#at.has(client) && client.ends === 0) this.#rejoin(client);
    await this.world.heal();
    this.world.stream();
    await this.world.heal();
    await this.world.end();
    await this.world.heal();
    await Promise.all(this.#joining);
    for (let index = 0; index < 6; index++) this.world.zombie(index);
    await this.world.heal();
    for (const { ends, text, faults } of this.clients) {
      assert.deepEqual(faults, []);
      assert.equal(ends, 1, "the client has the end");
      assert.equal(text, this.world.text);
    }
  }

  #rejoin(client: PlainClient): void {
    const gateway = this.world.gateways[0] as Gateway;
    this.#at.set(client, gateway);
    const joining = this.world.join(client, gateway).finally(() => this.#joining.delete(joining));
    this.#joining.add(joining);
  }
}

const runs = sweep({ long: 100, short: 25, variable: "BOWLINE_RELAY_RUNS" });

describe("a client of any gateway", () => {
  it("gets each event once and in order up to the end, whatever is lost, repeated or taken over", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const play = new Play(await World.create());
        try {
          await play.begin();
          for (const step of all) await play.step(step);
          await play.finish();
        } finally {
          play.world.close();
        }
      }),
      { numRuns: runs },
    );
  });
});
