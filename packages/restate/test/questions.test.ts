import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Journal } from "../src/run/journal.ts";
import { Questions } from "../src/run/questions.ts";
import { FakeEngine } from "./fake-engine.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function ask() {
  const engine = new FakeEngine("s");
  const context = engine.begin();
  const journal = new Journal(context, () => {});
  journal.advance(1000);
  const flushed: string[] = [];
  const questions = new Questions("r", journal, (name) => {
    flushed.push(name);
    return Promise.resolve();
  });
  return { engine, journal, questions, flushed };
}

describe("questions to people", () => {
  it("is open until it is answered, and takes the time of the answer", async () => {
    const { engine, journal, questions, flushed } = ask();
    const answer = questions.waitFor("a", { until: 90_000 });
    await later(5);
    const open = { awakeableId: "awk_0", runId: "r", until: 90_000 };
    assert.deepEqual(engine.state.get("ask:a"), open);
    engine.resolve("awk_0", { decision: "allow", at: 5000 });
    assert.deepEqual(await answer, { decision: "allow", at: 5000 });
    assert.equal(journal.now, 5000);
    assert.deepEqual([engine.state.size, flushed], [0, ["a"]]);
  });

  it("rejects at its limit, also if a later answer is there first", async () => {
    const { engine, journal, questions } = ask();
    const answer = questions.waitFor("a", { until: 90_000 });
    await later(5);
    engine.resolve("awk_0", { decision: "allow", at: 90_001 });
    await assert.rejects(answer, { code: "timeout" });
    assert.equal(journal.now, 90_000);
    assert.equal(engine.state.size, 0);
  });

  it("rejects at its limit by itself", async () => {
    const { engine, journal, questions } = ask();
    await assert.rejects(questions.waitFor("a", { until: 1020 }), { code: "timeout" });
    assert.equal(journal.now, 1020);
    assert.equal(engine.state.size, 0);
  });

  it("rejects when its signal fires", async () => {
    const { engine, questions } = ask();
    const controller = new AbortController();
    const answer = questions.waitFor("a", { signal: controller.signal });
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
