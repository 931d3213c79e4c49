import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { WaitOptions } from "@bowline/core";
import { deferred } from "../../../test/support/deferred.ts";
import { settle } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import { Journal } from "../src/run/journal.ts";
import { Questions } from "../src/run/questions.ts";
import type { AnswerInput } from "../src/wire.ts";
import { FakeEngine } from "./fake-engine.ts";

/** `time`: that of the system, while the run's is 1000. */
function ask(time = 1000) {
  const engine = new FakeEngine("s");
  const context = engine.begin();
  const journal = new Journal(
    context,
    () => {},
    () => time,
  );
  journal.advance(1000);
  const flushed: string[] = [];
  /** Until then the request of the question "slow" is not written. */
  const slow = deferred();
  /** What the database has. */
  const stored = new Map<string, AnswerInput>();
  const closed: string[] = [];
  const questions = new Questions({
    runId: "r",
    journal,
    async write(name) {
      if (name === "slow") await slow.promise;
      flushed.push(name);
    },
    async find(name, isClosing) {
      if (isClosing) closed.push(name);
      return stored.get(name);
    },
  });
  const waitFor = (name: string, options: WaitOptions): Promise<unknown> => {
    const answer = questions.waitFor(name, options);
    questions.asked(name);
    return answer;
  };
  return { engine, journal, questions, waitFor, flushed, slow, stored, closed };
}

describe("questions to people", { timeout: 10_000 }, () => {
  it("is open until it is answered, and takes the time of the answer", async () => {
    const { engine, journal, waitFor, flushed } = ask();
    const answer = waitFor("a", { until: 90_000 });
    await until(() => engine.state.has("ask:a"));
    const open = { awakeableId: "awk_0", runId: "r", until: 90_000 };
    assert.deepEqual(engine.state.get("ask:a"), open);
    engine.resolve("awk_0", { decision: "allow", at: 5000 });
    assert.deepEqual(await answer, { decision: "allow", at: 5000 });
    assert.equal(journal.now, 5000);
    assert.deepEqual([engine.state.size, flushed], [0, ["a"]]);
  });

  it("is open once its request is written, in the order of asking", async () => {
    const { engine, questions, flushed, slow } = ask();
    void questions.waitFor("slow");
    void questions.waitFor("b");
    await settle();
    assert.deepEqual([flushed, engine.state.size], [[], 0]);
    questions.asked("slow");
    questions.asked("b");
    await settle();
    assert.equal(engine.state.size, 0);
    slow.resolve();
    await until(() => engine.state.size === 2);
    assert.deepEqual(flushed, ["slow", "b"]);
    assert.deepEqual([...engine.state.keys()], ["ask:slow", "ask:b"]);
  });

  it(
    "rejects at once if its limit passed before it began to wait",
    { timeout: 10_000 },
    async () => {
      const { engine, waitFor, journal } = ask(1_000_000);
      const late = waitFor("late", { until: 61_000 });
      await assert.rejects(late, { code: "timeout" });
      assert.equal(journal.now, 1_000_000);
      assert.equal(engine.sleeps.size, 1);
    },
  );

  it("rejects at its limit, also if a later answer is there first", async () => {
    const { engine, journal, waitFor } = ask();
    const answer = waitFor("a", { until: 90_000 });
    await until(() => engine.state.has("ask:a"));
    engine.resolve("awk_0", { decision: "allow", at: 90_001 });
    await assert.rejects(answer, { code: "timeout" });
    assert.equal(journal.now, 90_000);
    assert.equal(engine.state.size, 0);
  });

  it("rejects at its limit by itself", async () => {
    const { engine, journal, waitFor } = ask();
    await assert.rejects(waitFor("a", { until: 1020 }), { code: "timeout" });
    assert.equal(journal.now, 1020);
    assert.equal(engine.state.size, 0);
  });

  it("takes an answer that was stored before the engine had its wait", async () => {
    const { engine, journal, waitFor, stored } = ask();
    stored.set("a", { decision: "allow", by: "ada", at: 5000 });
    const answer = waitFor("a", { until: 90_000 });
    assert.deepEqual(await answer, { decision: "allow", by: "ada", at: 5000 });
    assert.deepEqual([journal.now, engine.state.size, engine.sleeps.size], [5000, 0, 0]);
  });

  it("looks for a stored answer when the engine has its wait", async () => {
    const { engine, waitFor, stored } = ask();
    // Stored and told a moment before the engine knew the question.
    engine.killsAfter = (name) => {
      if (name === "open:a") stored.set("a", { decision: "deny", at: 5000 });
      return false;
    };
    assert.deepEqual(await waitFor("a", {}), { decision: "deny", at: 5000 });
  });

  it("takes an answer that was given in time and told to nobody, and no other", async () => {
    for (const at of [1010, 1021]) {
      const { engine, waitFor, stored, closed } = ask();
      engine.killsAfter = (name) => {
        if (name === "answer:a") stored.set("a", { decision: "allow", at });
        return false;
      };
      const answer = waitFor("a", { until: 1020 });
      if (at > 1020) await assert.rejects(answer, { code: "timeout" });
      else assert.deepEqual(await answer, { decision: "allow", at });
      assert.deepEqual(closed, ["a"]);
    }
  });

  it("rejects when its signal fires", async () => {
    const { engine, waitFor } = ask();
    const controller = new AbortController();
    const answer = waitFor("a", { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await assert.rejects(answer, { code: "aborted" });
    assert.equal(engine.state.size, 0);
  });

  it("waits for a time budget without a question", async () => {
    const { engine, questions, flushed } = ask();
    await assert.rejects(questions.waitFor("deadline:r", { until: 1010 }), { code: "timeout" });
    assert.deepEqual(
      engine.commands.map(({ kind }) => kind),
      ["sleep"],
    );
    assert.deepEqual(flushed, []);
  });
});
