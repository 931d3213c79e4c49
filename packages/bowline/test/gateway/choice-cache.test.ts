import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "@bowline/core/session";
import { Choices } from "../../src/gateway/agents/choices.ts";

describe("the cached choice of a session", () => {
  it("is read again after a failed read", async () => {
    const store = createMemoryStore();
    let isBroken = true;
    const choices = new Choices({
      ...store,
      load: async (id) => {
        if (isBroken) throw new Error("too many open files");
        return store.load(id);
      },
    });
    await assert.rejects(choices.of("s"), /open files/);
    isBroken = false;
    assert.deepEqual(await choices.of("s"), {});
  });

  it("is read once until it is forgotten", async () => {
    const store = createMemoryStore();
    let loads = 0;
    const load: typeof store.load = (id) => {
      loads++;
      return store.load(id);
    };
    const choices = new Choices({ ...store, load });
    for (const key of ["s", "t", "s", "t"]) await choices.of(key);
    assert.equal(loads, 2);
    choices.forget("s");
    await choices.of("s");
    assert.equal(loads, 3);
  });

  it("is evicted after a thousand others", async () => {
    const store = createMemoryStore();
    const loaded: string[] = [];
    const load: typeof store.load = (id) => {
      loaded.push(id);
      return store.load(id);
    };
    const choices = new Choices({ ...store, load });
    for (let count = 0; count <= 1000; count++) await choices.of(`s${count}`);
    await choices.of("s1000");
    assert.equal(loaded.length, 1001);
    await choices.of("s0");
    assert.deepEqual(loaded.slice(1001), ["s0"]);
  });
});
