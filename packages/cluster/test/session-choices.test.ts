/** The agent and the model of a session, which any gateway may change. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, createSession, openSession } from "@bowline/core/session";
import { SessionChoices } from "../src/engine/choices.ts";

describe("the choice of a session", () => {
  it("is read from what others wrote since, and from the begin after a deletion", async () => {
    const store = createMemoryStore();
    let reads = 0;
    const counted = {
      ...store,
      read: (...asked: Parameters<typeof store.read>) => {
        if (asked[1]?.from === 0) reads++;
        return store.read(...asked);
      },
    };
    const choices = new SessionChoices(counted);
    assert.deepEqual(await choices.of("s"), {});
    const session = await createSession(store, { id: "s", clock: clockAt(1) });
    await session.append({ type: "model_change", provider: "a", model: "b" });
    assert.deepEqual(await choices.of("s"), { model: "a/b" });
    await session.append({ type: "model_change", provider: "", model: "", agent: "coder" });
    assert.deepEqual(await choices.of("s"), { agentId: "coder" });
    await session.append({ type: "model_change", provider: "c", model: "d" });
    assert.deepEqual(await choices.of("s"), { agentId: "coder", model: "c/d" });
    assert.equal(reads, 1);
    await session.close();
    await store.delete("s");
    await (await createSession(store, { id: "s", clock: clockAt(2) })).close();
    assert.deepEqual(await choices.of("s"), {});
    assert.deepEqual((await openSession(store, "s", { readOnly: true })).header.createdAt, 2);
  });
});

function clockAt(time: number): { now: () => number; setTimer: () => () => void } {
  return { now: () => time, setTimer: () => () => {} };
}
