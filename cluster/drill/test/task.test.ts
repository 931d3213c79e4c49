/** What a message asks of the model is what the model's server reads in it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRequest } from "../outside/read-request.ts";
import { seeded } from "../seeded.ts";
import { asideText, drawTask, nameIn, sessionIn, taskIn, textOf } from "../task.ts";

describe("a task", () => {
  it("is read from its text as it was drawn", () => {
    const random = seeded(3);
    for (let index = 0; index < 200; index++) {
      const task = drawTask(random, `s${index}-${index}`);
      assert.deepEqual(taskIn(textOf(task)), task);
      assert.equal(nameIn(textOf(task)), task.name);
    }
    assert.equal(taskIn("another message"), undefined);
    assert.equal(nameIn(asideText("s1-2")), "s1-2");
    assert.equal(sessionIn("s1-2"), "s1");
  });

  it("is drawn the same for the same seed", () => {
    const draw = (seed: number) => drawTask(seeded(seed), "s0-0");
    assert.deepEqual(draw(5), draw(5));
    assert.notDeepEqual(draw(5), draw(6));
  });

  it("goes on where the request's answers end", () => {
    const messages = [
      { role: "system", content: "Work." },
      { role: "user", content: "task s0-0 n 5" },
      { role: "assistant", content: "[1] s0-0.0 heard s0-0" },
      { role: "tool", tool_call_id: "call_1_0", content: "never done call_1_0." },
      { role: "user", content: "aside s0-1" },
    ];
    const { task, turn, heard, seenAnswers, seenResults } = readRequest(messages);
    assert.deepEqual([task.name, turn, heard], ["s0-0", 1, ["s0-1"]]);
    assert.deepEqual(seenAnswers, [{ number: 1, text: "[1] s0-0.0 heard s0-0" }]);
    assert.deepEqual([...seenResults], [["call_1_0", "never done call_1_0."]]);
  });

  it("has no tools for an aside without a task", () => {
    const { task } = readRequest([{ role: "user", content: "aside s7-3" }]);
    assert.deepEqual([task.name, task.turns], ["s7-none", []]);
  });
});
