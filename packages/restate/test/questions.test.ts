import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { WaitOptions } from "@bowline/core";
import { deferred } from "../../../test/support/deferred.ts";
import { settle } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import { Journal } from "../src/run/journal.ts";
import { Questions } from "../src/run/questions.ts";
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
  const questions = new Questions("r", journal, async (name) => {
    if (name === "slow") await slow.promise;
    flushed.push(name);
  });
  const waitFor = (name: string, options: WaitOptions): Promise<unknown> => {
    const answer = questions.waitFor(name, options);
    questions.asked(name);
    return answer;
  };
  return { engine, journal, questions, waitFor, flushed, slow };
}

describe("questions to people", () => {
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
      assert.equal(journal.now, 61_000);
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
