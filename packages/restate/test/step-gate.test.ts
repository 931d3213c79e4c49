/** Steps of a process that is about to stop. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { StepGate } from "../src/engine/step-gate.ts";

/** Returns whether the promise settles before the event loop has gone around. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), setImmediate().then(() => false)]);
}

describe("a gate of steps", () => {
  it("closes when the engine has the results of the running steps", async () => {
    const gate = new StepGate();
    const [one, two] = [gate.step(), gate.step()];
    assert.equal(await one.run(async () => 1), 1);
    const failing = two.run(() => Promise.reject(new Error("broken")));
    const closed = gate.close();
    await assert.rejects(failing, /broken/);
    assert.equal(await settles(closed), false);
    one.done();
    one.done();
    assert.equal(await settles(closed), true);
  });

  it("begins no step after that, and does not wait for one that was not begun", async () => {
    const gate = new StepGate();
    const step = gate.step();
    await gate.close();
    let hasRun = false;
    const run = step.run(async () => {
      hasRun = true;
    });
    assert.equal(await settles(run), false);
    assert.equal(hasRun, false);
    step.done();
    assert.equal(await settles(gate.close()), true);
  });
});
