/** Whole runs over an engine in memory that is killed at each of its steps. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError, requireApproval } from "@bowline/core";
import type { AgentRequest } from "../src/index.ts";
import { calls, shapeOf, testRun, type TestRun } from "./support.ts";

const answers = [calls("never", "safe"), calls("safe"), "done"];
const tools = { never: {}, safe: { replay: "safe" as const } };

const whole = [
  "user",
  "assistant",
  "result: never done",
  "result: safe done",
  "assistant",
  "result: safe done",
  "assistant",
];

/** The names of the steps of an undisturbed run. */
async function stepsOf(make: () => TestRun): Promise<string[]> {
  const test = make();
  await test.run();
  return test.engine.commands.filter(({ kind }) => kind === "run").map(({ name }) => name);
}

const once = (name: string): ((step: string) => boolean) => {
  let isDone = false;
  return (step) => {
    if (isDone || step !== name) return false;
    return (isDone = true);
  };
};

describe("runs over an engine that replays", () => {
  const make = (): TestRun => testRun({ answers, tools });

  it("runs to its end", async () => {
    const test = make();
    const outcome = await test.run();
    assert.equal(outcome.state, "ended");
    assert.equal(outcome.state === "ended" && outcome.text, "done");
    assert.deepEqual(shapeOf(test.store), whole);
    assert.deepEqual(test.asked, [0, 1, 2]);
    assert.equal(test.engine.attempts, 1);
  });

  it("goes the same way after a death behind each step", async () => {
    for (const step of await stepsOf(make)) {
      const test = make();
      test.engine.killsAfter = once(step);
      const outcome = await test.run();
      assert.equal(outcome.state === "ended" && outcome.reason, "done", step);
      assert.deepEqual(test.engine.faults, [], step);
      assert.deepEqual(test.asked, [0, 1, 2], step);
      assert.equal(
        test.begun.filter((name) => name === "never").length,
        step.startsWith("begin:1") ? 0 : 1,
        step,
      );
      const { entries } = test.store.session;
      assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length, step);
      assert.equal(shapeOf(test.store).length, whole.length, step);
    }
  });

  it("goes the same way after a death before the record of each step", async () => {
    for (const step of await stepsOf(make)) {
      const test = make();
      test.engine.killsBefore = once(step);
      const outcome = await test.run();
      assert.equal(outcome.state === "ended" && outcome.reason, "done", step);
      assert.deepEqual(test.engine.faults, [], step);
      assert.ok(test.begun.filter((name) => name === "never").length <= 1, step);
      assert.equal(shapeOf(test.store).length, whole.length, step);
      const ends = test.store.session.entries.filter(({ type }) => type === "run_end");
      assert.equal(ends.length, 1, step);
    }
  });

  it("goes the same way after deaths at every step", async () => {
    const steps = await stepsOf(make);
    const test = make();
    const left = new Set(steps);
    test.engine.killsAfter = (step) => left.delete(step);
    await test.run();
    assert.deepEqual(test.engine.faults, []);
    assert.equal(test.engine.attempts, steps.length + 1);
    assert.equal(shapeOf(test.store).length, whole.length);
  });

  it("does not repeat a tool that began, and does not ask again for a recorded answer", async () => {
    const test = testRun({ answers: [calls("never"), "ok"], tools });
    test.engine.killsBefore = once("tool:1:c0");
    await test.run();
    assert.deepEqual(test.begun, ["never"]);
    assert.deepEqual(test.asked, [0, 1]);
    assert.match(shapeOf(test.store)[2] ?? "", /^result: The process ended while never ran/);
  });

  it("takes over the steps that still run in the same process", async () => {
    const test = testRun({
      answers: [calls("never"), "ok"],
      tools: { never: { ms: 60 } },
    });
    const first = test.attempt();
    while (test.begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    test.engine.kill();
    assert.equal(await first, "over");
    await test.attempt();
    assert.deepEqual(test.begun, ["never"]);
    assert.equal(shapeOf(test.store)[2], "result: never done");
    assert.equal(test.adoptions.size, 0);
  });

  it("aborts the steps of a dead attempt that no other one takes over", async () => {
    const aborted = Promise.withResolvers<void>();
    const test = testRun({
      answers: [calls("never")],
      tools: {
        never: {
          execute: (_id, _args, signal) =>
            new Promise((resolve) => {
              test.begun.push("never");
              signal?.addEventListener("abort", () => {
                aborted.resolve();
                resolve({ content: [] });
              });
            }),
        },
      },
    });
    void test.attempt();
    while (test.begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    test.engine.kill();
    await aborted.promise;
  });

  it("publishes nothing after the end of an attempt, and its attempt with each event", async () => {
    const test = testRun({
      answers: [calls("never"), "ok"],
      tools: {
        never: {
          async execute(_id, _args, _signal, onUpdate) {
            test.begun.push("never");
            for (let count = 0; count < 10; count++) {
              await new Promise((resolve) => setTimeout(resolve, 5));
              onUpdate?.({ content: [] });
            }
            return { content: [] };
          },
        },
      },
    });
    void test.attempt();
    while (test.begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    test.engine.kill();
    const before = test.events.length;
    await new Promise((resolve) => setTimeout(resolve, 80));
    assert.equal(test.events.length, before);
    await test.attempt();
    const later = test.events.slice(before);
    assert.ok(later.every(({ source }) => source.attempt === 2));
    assert.deepEqual(
      later.map(({ source }) => source.number),
      later.map((_, index) => index),
    );
    assert.equal(later[0]?.event.type, "agent_start");
    assert.equal(later.at(-1)?.event.type, "agent_end");
  });

  it("says with each event whether an earlier attempt may have published", async () => {
    for (const [step, isRepeated] of [
      ["run", false],
      ["start", true],
    ] as const) {
      const test = make();
      test.engine.killsAfter = once(step);
      await test.run();
      const last = test.events.at(-1);
      assert.deepEqual([last?.source.attempt, last?.source.isRepeated], [2, isRepeated], step);
    }
  });

  it("tells the end of a run when it is stored, also of one without an agent", async () => {
    const ended: [unknown, unknown, string | undefined][] = [];
    const test = testRun({
      answers: ["done"],
      options: {
        onEnd(end, source) {
          ended.push([end, source, test.store.session.entries.at(-1)?.type]);
          throw new Error("ignored");
        },
      },
    });
    test.engine.killsBefore = once("end");
    const outcome = await test.run();
    const { runId } = outcome as { runId: string };
    const source = { sessionId: "s", runId, attempt: 2, isRepeated: true };
    assert.deepEqual(ended, [[{ reason: "done", hasAgent: true }, source, "run_end"]]);
    const failed: unknown[] = [];
    const without = testRun({
      answers: [],
      options: {
        onEnd: (end) => void failed.push(end),
        createAgent() {
          throw new BowlineError("invalid_argument", "No such agent.");
        },
      },
    });
    await without.run();
    const error = { code: "invalid_argument", message: "No such agent.", retryable: false };
    assert.deepEqual(failed, [{ reason: "error", error, hasAgent: false }]);
    assert.deepEqual(without.events, []);
  });

  it("gives an agent the metadata of its message", async () => {
    const seen: unknown[] = [];
    const message = { role: "user", content: "go", timestamp: 1 } as const;
    const options = {
      outputOf: (request: AgentRequest) => void seen.push(request.metadata),
    };
    const test = testRun({ answers: ["done"], options });
    await test.run({ messageId: "m1", message, metadata: { workspace: "/w" } });
    const woken = testRun({ answers: ["done"], options });
    await woken.store.session.push("s", { id: "a", queue: "followUp", message });
    await woken.run({});
    assert.deepEqual(seen, [{ workspace: "/w" }, undefined]);
  });

  it("gives a run the id that comes with its message", async () => {
    const message = { role: "user", content: "go", timestamp: 1 } as const;
    const outcome = await make().run({ messageId: "m1", message, runId: "own" });
    assert.equal(outcome.state === "ended" && outcome.runId, "own");
  });

  it("refuses the writes of an attempt whose session another one took, and tries again", async () => {
    const test = testRun({
      answers: ["done"],
      onAsk: () => void test.store.session.epoch++,
    });
    const outcome = await test.run();
    assert.equal(outcome.state === "ended" && outcome.reason, "done");
    assert.equal(test.engine.attempts, 2);
    assert.match(test.engine.faults.join(), /fenced/);
    assert.equal(test.store.session.unfenced, 0);
    assert.deepEqual(test.asked, [0]);
  });

  it("gives a message the same time in each attempt", async () => {
    const test = testRun({ answers: [calls("safe"), "ok"], tools });
    const killed = new Set(["tool:1:c0", "inbox:1"]);
    test.engine.killsAfter = (step) => killed.delete(step);
    await test.run();
    const times = test.events.flatMap(({ event }) =>
      event.type === "message_end" && event.message.role === "toolResult"
        ? [(event.message as { timestamp: number }).timestamp]
        : [],
    );
    assert.equal(times.length, 2);
    assert.equal(times[0], times[1]);
    const last = JSON.parse(
      new TextDecoder().decode(
        test.engine.notifications.find(
          ({ index }) => test.engine.commands[index]?.name === "tool:1:c0",
        )?.value as Uint8Array,
      ),
    ) as { at: number };
    assert.equal(times[0], last.at);
  });

  it("aborts in the order of the journal, and ends the same way after a death", async () => {
    for (const toolExecution of ["parallel", "sequential"] as const) {
      const test = testRun({
        answers: [calls("quick", "slow", "slow"), "no"],
        tools: { quick: { replay: "safe" }, slow: { ms: 10_000, replay: "safe" } },
        agent: { toolExecution },
      });
      const first = test.attempt();
      while (!test.begun.includes("slow")) await new Promise((resolve) => setTimeout(resolve, 5));
      test.engine.killsBefore = once("end");
      test.engine.cancel();
      assert.equal(await first, "over");
      const outcome = await test.run();
      assert.equal(outcome.state === "ended" && outcome.reason, "aborted");
      assert.deepEqual(test.engine.faults, []);
      assert.deepEqual(test.asked, [0]);
    }
  });

  it("asks a person once, over attempts, and runs the call with the answer", async () => {
    const test = testRun({
      answers: [calls("never"), "ok"],
      tools,
      agent: { beforeToolCall: requireApproval() },
    });
    const first = test.attempt();
    while (test.engine.awakeables.size === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
    test.engine.kill();
    await first;
    const [key, question] = [...test.engine.state].find(([name]) => name.startsWith("ask:")) ?? [];
    assert.match(key ?? "", /^ask:.*:1:c0$/);
    const { awakeableId } = question as { awakeableId: string };
    test.engine.resolve(awakeableId, { decision: "allow", at: Date.now() });
    await test.run();
    assert.deepEqual(test.begun, ["never"]);
    assert.deepEqual(test.engine.faults, []);
    const types = test.store.session.entries.map(({ type }) => type);
    assert.equal(types.filter((type) => type === "approval_request").length, 1);
    assert.equal(types.filter((type) => type === "approval_answer").length, 1);
    assert.equal([...test.engine.state.keys()].filter((name) => name.startsWith("ask:")).length, 0);
  });

  it("denies a call whose answer is later than the limit, whoever is first in the journal", async () => {
    const test = testRun({
      answers: [calls("never"), "ok"],
      tools,
      agent: { beforeToolCall: requireApproval({ timeoutMs: 60_000 }) },
    });
    const running = test.attempt();
    while (test.engine.awakeables.size === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    const [id = ""] = test.engine.awakeables.keys();
    test.engine.resolve(id, { decision: "allow", at: Date.now() + 61_000 });
    await running;
    assert.deepEqual(test.begun, []);
    assert.match(shapeOf(test.store)[2] ?? "", /Denied: there was no answer in time/);
  });
});
