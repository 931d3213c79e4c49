import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { RunInbox } from "../src/run/inbox.ts";
import { createFakeStore } from "./fake-store.ts";
import { calls, shapeOf, testRun } from "./support.ts";

const say = (content: string) => ({ role: "user", content, timestamp: 1 }) as const;

/** The texts of the users' messages in the transcript. */
const texts = (entries: readonly object[]): string[] =>
  entries
    .map((entry) => (entry as { message?: { role: string; content: string } }).message)
    .filter((message) => message?.role === "user")
    .map((message) => message?.content ?? "");

const ids = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id);

describe("the inbox of a run", () => {
  it("gives steering messages before follow-ups, one at a time, in each attempt", async () => {
    const test = testRun({
      answers: [calls("tool"), "one", "two", "three", "four"],
      tools: { tool: {} },
      async onAsk(turn) {
        if (turn > 0) return;
        const { session } = test.store;
        await session.push("s", { id: "f", queue: "followUp", message: say("follow-up") });
        await session.push("s", { id: "a", queue: "steering", message: say("left") });
        await session.push("s", { id: "b", queue: "steering", message: say("right") });
      },
    });
    const killed = new Set(["inbox:1", "inbox:2", "end"]);
    test.engine.killsAfter = (step) => killed.delete(step);
    await test.run();
    assert.deepEqual(texts(test.store.session.entries), ["go", "left", "right", "follow-up"]);
    assert.deepEqual(test.asked, [0, 1, 2, 3]);
    assert.deepEqual(test.engine.faults, []);
  });

  it("takes all steering messages at once if the agent says so", async () => {
    const test = testRun({
      answers: [calls("tool"), "one", "two"],
      tools: { tool: {} },
      agent: { steeringMode: "all" },
      async onAsk(turn) {
        if (turn > 0) return;
        for (const id of ["a", "b"])
          await test.store.session.push("s", { id, queue: "steering", message: say(id) });
      },
    });
    await test.run();
    assert.deepEqual(test.asked, [0, 1]);
    assert.deepEqual(texts(test.store.session.entries), ["go", "a", "b"]);
  });

  it("begins a run with what waits, and none without", async () => {
    const test = testRun({ answers: ["hello"] });
    assert.deepEqual(await test.run({}), { state: "idle" });
    assert.equal(test.store.session.entries.length, 0);
    const woken = testRun({ answers: ["hello"] });
    const { session } = woken.store;
    await session.push("s", { id: "a", queue: "followUp", message: say("hey") });
    const outcome = await woken.run({});
    assert.equal(outcome.state, "ended");
    assert.deepEqual(shapeOf(woken.store), ["user", "assistant"]);
  });

  it("puts back what a failed run had taken", async () => {
    const test = testRun({
      answers: [{ stopReason: "error" }],
      async onAsk() {
        await test.store.session.push("s", { id: "x", queue: "followUp", message: say("x") });
      },
    });
    const { session } = test.store;
    await session.push("s", { id: "a", queue: "followUp", message: say("later") });
    test.engine.killsBefore = (
      (left) => (step: string) =>
        left.delete(step)
    )(new Set(["end"]));
    await test.run();
    assert.equal(await session.pending(), 2);
    await session.drain("s", session.epoch, { runId: "other", name: "start" });
    assert.equal(await session.pending(), 0);
  });

  it("leaves messages that no run has read in their order, before later ones", async () => {
    const test = testRun({
      answers: [calls("tool"), { stopReason: "error" }],
      tools: { tool: {} },
      async onAsk(turn) {
        const { session } = test.store;
        for (const id of turn === 0 ? ["1", "2"] : ["3"])
          await session.push("s", { id, queue: "followUp", message: say(id) });
      },
    });
    await test.run();
    const { session } = test.store;
    assert.deepEqual(ids(await session.waiting()), ["1", "2", "3"]);
    assert.deepEqual(await session.findMessage("s", "1"), { state: "pending" });
    const next = await session.drain("s", session.epoch, { runId: "next", name: "start" });
    assert.deepEqual(ids(next), ["1", "2", "3"]);
  });

  it("gives back what the run has read too late, under the message's own id", async () => {
    const session = createFakeStore().session;
    await session.push("s", { id: "late", queue: "steering", message: say("late") });
    await session.push("s", { id: "f", queue: "followUp", message: say("f") });
    const taken = await session.drain("s", 0, { runId: "r", name: "start" });
    const inbox = new RunInbox({
      taken,
      modes: { steering: "all", followUp: "all" },
      transcript: { expect: () => {} },
    } as unknown as ConstructorParameters<typeof RunInbox>[0]);
    const read = await inbox.read("steering", 0);
    assert.deepEqual(ids(inbox.left), ["f"]);
    inbox.giveBack("steering", read);
    assert.deepEqual(ids(inbox.left), ["late", "f"]);
  });

  it("does not run a message that was cancelled", async () => {
    const createAgent = (): never => {
      throw new Error("No agent is needed.");
    };
    const test = testRun({ answers: [], options: { createAgent } });
    const { session } = test.store;
    await session.push("s", { id: "m1", queue: "start", message: say("go"), runId: "r" });
    await session.cancel();
    assert.deepEqual(await test.run(), { state: "cancelled", runId: "r" });
    assert.deepEqual([test.asked, session.entries], [[], []]);
  });

  it("leaves a message in the inbox until its agent can be created", async () => {
    let isAway = true;
    const test = testRun({ answers: ["hello"] });
    const failing = testRun({
      answers: ["hello"],
      options: {
        store: test.store,
        createAgent() {
          if (isAway) throw new BowlineError("connection_failed", "away", { retryable: true });
          throw new BowlineError("invalid_argument", "No such agent.");
        },
      },
    });
    const { session } = test.store;
    await session.push("s", { id: "m1", queue: "start", message: say("go"), runId: "r" });
    await session.push("s", { id: "f", queue: "followUp", message: say("more") });
    await Promise.race([failing.attempt(), new Promise((resolve) => setTimeout(resolve, 50))]);
    assert.match(failing.engine.faults.join(), /away/);
    assert.equal((await session.waiting()).length, 2);
    isAway = false;
    const outcome = await failing.run();
    assert.equal(outcome.state === "ended" && outcome.reason, "error");
    assert.equal((await session.findMessage("s", "m1"))?.state, "taken");
  });

  it("does not run a message again that an earlier run has", async () => {
    const test = testRun({ answers: ["hello"] });
    await test.store.session.claimRun("s", "m1", "earlier");
    assert.deepEqual(await test.run(), { state: "taken", runId: "earlier" });
    assert.deepEqual(test.asked, []);
  });
});
