import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Listeners, type Listener } from "../../src/gateway/server/listeners.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";

function heard(): Listener & { readonly names: string[] } {
  const names: string[] = [];
  return { names, event: (name) => void names.push(name) };
}

describe("a listener", () => {
  it("gets a session's events while subscribed, and approval events always", () => {
    const listeners = new Listeners();
    const [one, two] = [heard(), heard()];
    const tell = (): void => {
      listeners.publish("s", { json: "{}" }, "chat.delta");
      listeners.publish("other", { json: "{}" }, "chat.final");
      listeners.publish("other", { json: "{}" }, "exec.approval_request");
    };
    for (const listener of [one, two]) listeners.add(listener);
    for (const listener of [one, two, one]) listeners.subscribe(listener, "s");
    listeners.subscribe(two, "other");
    tell();
    assert.deepEqual(one.names.splice(0), ["chat.delta", "exec.approval_request"]);
    assert.deepEqual(two.names.splice(0), ["chat.delta", "chat.final", "exec.approval_request"]);
    listeners.unsubscribe(one, "s");
    listeners.delete(two);
    listeners.subscribe(two, "s");
    tell();
    assert.deepEqual([one.names, two.names], [["exec.approval_request"], []]);
    assert.equal(listeners.size, 1);
  });

  it("costs nothing for a delta of another session", () => {
    const listeners = new Listeners();
    let count = 0;
    for (let index = 0; index < 5000; index++) {
      const listener = heard();
      listeners.add(listener);
      listeners.subscribe(listener, `session ${index}`);
    }
    const follower: Listener = { event: () => void count++ };
    listeners.add(follower);
    listeners.subscribe(follower, "s");
    const start = cpuMs();
    for (let index = 0; index < 100_000; index++)
      listeners.publish("s", { json: "{}" }, "chat.delta");
    const ms = cpuMs() - start;
    assert.equal(count, 100_000);
    // Checking every other listener would take seconds.
    assert.ok(ms < 1000, `${ms} ms`);
  });
});
