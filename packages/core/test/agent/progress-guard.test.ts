import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProgressGuard, type AgentMessage } from "../../src/agent/index.ts";
import { scriptedToolCall, type ScriptedStep } from "../../src/testing/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const guard = { transformContext: createProgressGuard({ now: () => 1 }) };
const notes = (messages: readonly AgentMessage[]): number =>
  texts(messages).filter((text) => text.startsWith("user: Note: the same tool calls")).length;
const repeat = (count: number, step: (index: number) => ScriptedStep): ScriptedStep[] =>
  Array.from({ length: count }, (_, index) => step(index));

describe("createProgressGuard", () => {
  it("warns the model after three equal rounds, and ends the run after five", async () => {
    const { agent, script } = rig(
      repeat(9, (index) => call("a", `call-${index}`)),
      [tool("a", () => "1")],
      guard,
    );
    const run = await agent.prompt("Hi");
    assert.deepEqual(
      [run.reason, run.error?.code, script.calls.length],
      ["error", "no_progress", 5],
    );
    assert.deepEqual(
      script.calls.map(({ context }) => notes(context.messages)),
      [0, 0, 0, 1, 1],
    );
    assert.equal(notes(agent.state.messages), 0, "the note is for the request only");
  });

  it("detects two alternating calls", async () => {
    const { agent } = rig(
      repeat(20, (index) => call(index % 2 === 0 ? "a" : "b", `call-${index}`)),
      [tool("a", () => "1"), tool("b", () => "2")],
      guard,
    );
    const run = await agent.prompt("Hi");
    assert.deepEqual([run.error?.code, run.turns], ["no_progress", 11]);
  });

  it("detects refused calls: an unknown tool, invalid arguments", async () => {
    for (const step of [call("nothing"), { content: [scriptedToolCall("a", { no: 1 })] }]) {
      const strict = tool("a", () => "1", {
        parameters: { type: "object", additionalProperties: false },
      });
      const { agent } = rig(
        repeat(9, () => step),
        [strict],
        guard,
      );
      assert.equal((await agent.prompt("Hi")).error?.code, "no_progress");
    }
  });

  it("ignores calls that make progress: other results, other arguments, a longer cycle", async () => {
    let count = 0;
    const cases = [
      repeat(12, (index) => call("count", `call-${index}`)),
      repeat(12, (index) => ({ content: [scriptedToolCall("a", { page: index })] })),
      repeat(12, (index) => call(["a", "b", "c"][index % 3] ?? "", `call-${index}`)),
    ];
    for (const steps of cases) {
      const { agent, script } = rig(
        [...steps, "Done."],
        [
          tool("count", () => String(count++)),
          tool("a", () => "1"),
          tool("b", () => "2"),
          tool("c", () => "3"),
        ],
        guard,
      );
      assert.equal((await agent.prompt("Hi")).reason, "done");
      assert.ok(script.calls.every(({ context }) => notes(context.messages) === 0));
    }
  });

  it("starts over with a user message, and ignores custom messages", async () => {
    const transform = createProgressGuard({ now: () => 1 });
    const { agent } = rig(
      [...repeat(3, (index) => call("a", `call-${index}`)), "Done."],
      [tool("a", () => "1")],
    );
    await agent.prompt("Hi");
    const rounds = agent.state.messages.slice(1, 7);
    assert.equal(notes(transform([hello, ...rounds])), 1);
    assert.equal(notes(transform([hello, ...rounds.slice(0, 4), hello, ...rounds.slice(4)])), 0);
    const notification = { role: "notification", content: "hm" } as unknown as AgentMessage;
    assert.equal(
      notes(transform([hello, ...rounds.slice(0, 4), notification, ...rounds.slice(4)])),
      1,
    );
  });
});
