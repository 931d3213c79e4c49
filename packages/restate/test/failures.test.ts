/** Sessions, agents and results that do not allow a run to go on as usual. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, BowlineError } from "@bowline/core";
import { calls, shapeOf, testRun } from "./support.ts";

describe("a run that cannot go on as usual", () => {
  it("ends with the error of an agent that cannot be created, in each attempt", async () => {
    let count = 0;
    const test = testRun({
      answers: [],
      options: {
        createAgent: () => {
          count++;
          throw new BowlineError("invalid_argument", "There is no agent of this name.");
        },
      },
    });
    test.engine.killsAfter = (
      (left) => (step: string) =>
        left.delete(step)
    )(new Set(["start"]));
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.error?.code, "invalid_argument");
    assert.equal(count, 1);
    assert.deepEqual(shapeOf(test.store), ["user"]);
    const end = test.store.session.entries.at(-1) as unknown as { type: string; reason: string };
    assert.deepEqual([end.type, end.reason], ["run_end", "error"]);
  });

  it("is attempted again when the agent may be created later", async () => {
    let count = 0;
    const test = testRun({ answers: ["hello"] });
    const flaky = testRun({
      answers: ["hello"],
      options: {
        createAgent: () => {
          if (count++ === 0) throw new Error("the configuration is away");
          return new Agent();
        },
      },
    });
    await test.run();
    const outcome = await flaky.run();
    assert.equal(count, 2);
    assert.equal(outcome.state, "ended");
  });

  it("refuses an agent that has messages", async () => {
    const message = { role: "user", content: "x", timestamp: 1 } as const;
    const test = testRun({ answers: [], agent: { messages: [message] } });
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.error?.code, "invalid_argument");
  });

  it("rejects with not_found when its session is deleted during the run", async () => {
    const test = testRun({
      answers: ["hello"],
      onAsk: () => void (test.store.session.isDeleted = true),
    });
    await assert.rejects(test.run(), { code: "not_found" });
    assert.equal(test.store.session.entries.length, 2);
    assert.equal(test.engine.state.has("running"), false);
  });

  it("answers the open calls of a run before it, and ends that one", async () => {
    const test = testRun({
      answers: [calls("never"), "ok", "again"],
      tools: { never: { ms: 1e4 } },
    });
    void test.attempt();
    while (test.begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    test.engine.kill();
    // As after a kill: another invocation, with a journal of its own.
    test.engine.commands.length = 0;
    test.engine.notifications.length = 0;
    const input = { messageId: "m2", message: { role: "user", content: "x", timestamp: 1 } };
    await test.run(input);
    const shape = shapeOf(test.store);
    assert.deepEqual(
      shape.map((line) => line.split(":")[0]),
      ["user", "assistant", "result", "user", "assistant"],
    );
    const ends = test.store.session.entries.filter(({ type }) => type === "run_end");
    assert.deepEqual(
      ends.map((entry) => (entry as unknown as { reason: string }).reason),
      ["interrupted", "done"],
    );
  });

  it("keeps a large result in the session and a reference in the journal", async () => {
    const text = "x".repeat(2000);
    const test = testRun({
      answers: [calls("big"), "ok"],
      tools: { big: { execute: () => Promise.resolve({ content: [{ type: "text", text }] }) } },
      options: { maxJournaledBytes: 1000 },
    });
    const killed = new Set(["tool:1:c0", "inbox:1"]);
    test.engine.killsAfter = (step) => killed.delete(step);
    await test.run();
    assert.equal(shapeOf(test.store)[2], `result: ${text}`);
    const sizes = test.engine.notifications.map(
      ({ value }) => (value as Uint8Array | null)?.length,
    );
    assert.ok(
      sizes.every((size = 0) => size < 1500),
      sizes.join(),
    );
    assert.deepEqual(test.engine.faults, []);
  });

  it("tells the model that a result is lost which is not JSON", async () => {
    const test = testRun({
      answers: [calls("odd"), "ok"],
      tools: {
        odd: {
          execute(_id, _args, _signal, _update, context) {
            context?.run.addUsage({ input: 7, totalTokens: 7 });
            return Promise.resolve({ content: [], details: { big: 1n } });
          },
        },
      },
    });
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.reason, "done");
    assert.match(shapeOf(test.store)[2] ?? "", /The tool ran, but its result is lost/);
    // What the call used counts all the same, also in an attempt that replays it.
    assert.equal(outcome.state === "ended" && outcome.usage.totalTokens, 7);
    const usages = test.store.session.entries.filter(({ type }) => type === "usage");
    assert.equal(usages.length, 1);
  });

  it("keeps the time limit of its start over attempts", async () => {
    const test = testRun({
      answers: [calls("slow"), "late"],
      tools: { slow: { ms: 150, replay: "safe" } },
      agent: { budget: { maxTimeMs: 200 } },
    });
    const begins = Date.now();
    test.engine.killsBefore = (
      (left) => (step: string) =>
        left.delete(step)
    )(new Set(["tool:1:c0"]));
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.reason, "budget");
    assert.ok(Date.now() - begins < 1000);
    assert.deepEqual(test.engine.faults, []);
  });

  it("ends at the same token budget in each attempt, if the server counts no tokens", async () => {
    const make = () =>
      testRun({
        answers: Array.from({ length: 9 }, () => calls(["tool", { text: "x".repeat(400) }])),
        tools: { tool: { replay: "safe" } },
        agent: { budget: { maxTokens: 500 } },
      });
    const whole = make();
    await whole.run();
    assert.ok(whole.asked.length > 1 && whole.asked.length < 9, whole.asked.join());
    const steps = whole.engine.commands.filter(({ kind }) => kind === "run");
    for (const { name } of steps) {
      const test = make();
      test.engine.killsAfter = (
        (left) => (step: string) =>
          left.delete(step)
      )(new Set([name]));
      const outcome = await test.run();
      assert.equal(outcome.state === "ended" && outcome.reason, "budget", name);
      assert.deepEqual(test.engine.faults, [], name);
      assert.deepEqual(test.asked, whole.asked, name);
    }
  });

  it("ignores the errors of a reader of events", async () => {
    const test = testRun({
      answers: ["hello"],
      options: {
        onEvent: () => {
          throw new Error("reader");
        },
      },
    });
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.reason, "done");
  });
});
