import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pump } from "../src/engine/pump.ts";
import { FakeEngine } from "./fake-engine.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: unknown): string => new TextDecoder().decode(value as Uint8Array);
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("the pump", () => {
  it("waits for several results at once, and delivers them as they come", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const order: string[] = [];
    await Promise.all(
      [30, 5, 15].map(async (ms) => {
        const handle = context.run(`wait ${ms}`, async () => {
          await later(ms);
          return bytes(`${ms}`);
        });
        order.push(await pump.wait(handle, text));
      }),
    );
    assert.deepEqual(order, ["5", "15", "30"]);
    assert.deepEqual(engine.faults, []);
  });

  it("delivers the results of a journal in its order, each before the next", async () => {
    const engine = new FakeEngine("s");
    const attempt = async (): Promise<string[]> => {
      const context = engine.begin();
      const pump = new Pump(context, () => {});
      const order: string[] = [];
      const both = [20, 1].map(async (ms) => {
        const handle = context.run(`wait ${ms}`, async () => {
          await later(ms);
          return bytes(`${ms}`);
        });
        order.push(await pump.wait(handle, text));
        const next = context.run(`after ${ms}`, () => Promise.resolve(bytes(`after ${ms}`)));
        order.push(await pump.wait(next, text));
      });
      await Promise.all(both);
      return order;
    };
    const first = await attempt();
    assert.deepEqual(first, ["1", "after 1", "20", "after 20"]);
    assert.deepEqual(await attempt(), first);
    assert.deepEqual(engine.faults, []);
  });

  it("starts what was added after a wait had begun, once something is delivered", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const slow = pump.wait(
      context.run("slow", async () => {
        await later(20);
        return bytes("slow");
      }),
      text,
    );
    await later(5);
    const late = pump.wait(
      context.run("late", () => Promise.resolve(bytes("late"))),
      text,
    );
    assert.equal(await slow, "slow");
    assert.equal(await late, "late");
  });

  it("reports a cancellation once, and goes on", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    let cancelled = 0;
    const pump = new Pump(context, () => void cancelled++);
    const step = pump.wait(
      context.run("step", async () => {
        await later(20);
        return bytes("ended");
      }),
      text,
    );
    engine.cancel();
    engine.cancel();
    assert.equal(await step, "ended");
    assert.equal(cancelled, 1);
  });

  it("does not deliver what was dropped, and stays usable", async () => {
    const engine = new FakeEngine("s");
    const context = engine.begin();
    const pump = new Pump(context, () => {});
    const { id, handle } = context.awakeable("question");
    const dropped = pump.add(handle, () => assert.fail("it was dropped"));
    await later(5);
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
