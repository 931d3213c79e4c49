import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deferred } from "../../../test/support/deferred.ts";
import { settle } from "../../../test/support/manual-clock.ts";
import { Pump } from "../src/engine/pump.ts";
import { FakeEngine } from "./fake-engine.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: unknown): string => new TextDecoder().decode(value as Uint8Array);

describe("the pump", () => {
  it("waits for several results at once, and delivers them as they come", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const order: string[] = [];
    const steps = ["a", "b", "c"].map((name) => {
      const gate = deferred();
      const handle = context.run(name, () => gate.promise.then(() => bytes(name)));
      const delivered = pump.wait(handle, text).then((result) => order.push(result));
      return { gate, delivered };
    });
    for (const { gate, delivered } of [steps[1], steps[2], steps[0]].flatMap((one) => one ?? [])) {
      gate.resolve();
      await delivered;
    }
    assert.deepEqual(order, ["b", "c", "a"]);
    assert.deepEqual(engine.faults, []);
  });

  it("delivers the results of a journal in its order, each before the next", async () => {
    const engine = new FakeEngine("s");
    const attempt = async (): Promise<string[]> => {
      const context = engine.begin();
      const pump = new Pump(context, () => {});
      const order: string[] = [];
      const second = deferred();
      const both = [second.promise, Promise.resolve()].map(async (gate, index) => {
        const handle = context.run(`step ${index}`, () => gate.then(() => bytes(`${index}`)));
        order.push(await pump.wait(handle, text));
        const next = context.run(`after ${index}`, () => Promise.resolve(bytes(`after ${index}`)));
        order.push(await pump.wait(next, text));
        second.resolve();
      });
      await Promise.all(both);
      return order;
    };
    const first = await attempt();
    assert.deepEqual(first, ["1", "after 1", "0", "after 0"]);
    assert.deepEqual(await attempt(), first);
    assert.deepEqual(engine.faults, []);
  });

  it("starts what was added after a wait had begun, once something is delivered", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const gate = deferred();
    const slow = pump.wait(
      context.run("slow", () => gate.promise.then(() => bytes("slow"))),
      text,
    );
    await settle();
    const late = pump.wait(
      context.run("late", () => Promise.resolve(bytes("late"))),
      text,
    );
    gate.resolve();
    assert.equal(await slow, "slow");
    assert.equal(await late, "late");
  });

  it("reports a cancellation once, and goes on", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    let cancelled = 0;
    const pump = new Pump(context, () => void cancelled++);
    const gate = deferred();
    const step = pump.wait(
      context.run("step", () => gate.promise.then(() => bytes("ended"))),
      text,
    );
    engine.cancel();
    engine.cancel();
    await settle();
    gate.resolve();
    assert.equal(await step, "ended");
    assert.equal(cancelled, 1);
  });

  it("does not deliver what was dropped, and stays usable", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const { id, handle } = context.awakeable("question");
    const dropped = pump.add(handle, () => assert.fail("it was dropped"));
    await settle();
    dropped.drop();
    engine.resolve(id, "answer");
    const next = context.run("next", () => Promise.resolve(bytes("next")));
    assert.equal(await pump.wait(next, text), "next");
  });

  it("rejects with the error of a closure that the engine does not retry", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const error = Object.assign(new Error("gone"), { retryable: false });
    const handle = context.run("step", () => Promise.reject(error));
    await assert.rejects(pump.wait(handle, text), error);
  });

  it("rejects with the error of `read`", async () => {
    const context = new FakeEngine("s").begin();
    const pump = new Pump(context, () => {});
    const handle = context.run("step", () => Promise.resolve(bytes("x")));
    await assert.rejects(
      pump.wait(handle, () => Promise.reject(new Error("unread"))),
      /unread/,
    );
  });
});
