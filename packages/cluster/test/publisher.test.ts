/** The runs of a worker: which attempts may speak, and who is answered. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunPublisher } from "@bowline/cluster";
import { createSecretFilter } from "bowline/engine";
import { defaultLimits } from "bowline/gateway";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { Subjects } from "../src/wire/subjects.ts";
import { delta, ended } from "../../../test/support/agent-events.ts";
import { FakeNetwork } from "./support/fake-bus.ts";

const attempt = (number: number, sessionKey = "s", runId = "r") => ({
  sessionKey,
  runId,
  attempt: number,
  isRepeated: number > 1,
});

function rig(limits = defaultLimits) {
  const network = new FakeNetwork();
  const bus = network.node();
  const clock = new ManualClock();
  const filter = createSecretFilter([]);
  const publisher = new RunPublisher({ bus, filter, clock, limits });
  /** Whether a worker listens for questions about the session. */
  const isAsked = (sessionKey: string): boolean =>
    [...network.subscriptions].some(
      ({ subject }) => subject === new Subjects("bowline").ask(sessionKey),
    );
  return { network, bus, clock, publisher, isAsked };
}

describe("a worker", () => {
  it("says nothing for an attempt after a later one began, here or elsewhere", () => {
    const here = rig();
    here.publisher.tell(attempt(1), delta("r", "a"));
    here.publisher.tell(attempt(2), delta("r", "b"));
    const before = here.network.published.length;
    here.publisher.tell(attempt(1), delta("r", "zombie"));
    assert.equal(here.network.published.length, before);

    const there = here.network.node();
    const other = new RunPublisher({
      bus: there,
      filter: createSecretFilter([]),
      clock: here.clock,
    });
    other.tell(attempt(3), delta("r", "c"));
    here.network.deliverAll();
    const after = here.network.published.length;
    here.publisher.tell(attempt(2), delta("r", "zombie"));
    assert.equal(here.network.published.length, after);
    assert.equal(here.publisher.size, 0);
    here.publisher.close();
    other.close();
  });

  it("answers for an ended run for a while, and for an attempt that was left not at all", async () => {
    const { publisher, clock, isAsked } = rig();
    publisher.tell(attempt(1), delta("r", "a"));
    assert.equal(isAsked("s"), true);
    publisher.tell(attempt(1), ended("r"));
    publisher.tell(attempt(1, "left"), delta("r", "a"));
    publisher.leave(attempt(1, "left"));
    assert.equal(isAsked("left"), false);
    await clock.advance(defaultLimits.keepEndedMs - 1000);
    assert.equal(isAsked("s"), true);
    await clock.advance(60_000);
    assert.equal(isAsked("s"), false);
    assert.equal(publisher.size, 0);
    assert.equal(clock.pending, 0);
  });

  it("keeps a bounded number of ended runs", () => {
    const { publisher } = rig({ ...defaultLimits, maxEnded: 3 });
    for (let index = 0; index < 10; index++) {
      publisher.tell(attempt(1, `s${index}`), delta("r", "a"));
      publisher.tell(attempt(1, `s${index}`), ended("r"));
    }
    assert.equal(publisher.size, 3);
    publisher.close();
  });

  it("drops events while the bus is away, and then says how far it is", () => {
    const { publisher, bus, network } = rig();
    publisher.tell(attempt(1), delta("r", "a"));
    bus.disconnect();
    publisher.tell(attempt(1), delta("r", "b"));
    assert.equal(network.published.length, 1);
    bus.reconnect();
    assert.deepEqual(network.published.at(-1), '["p1","r",1,1]\n');
    publisher.close();
  });
});
