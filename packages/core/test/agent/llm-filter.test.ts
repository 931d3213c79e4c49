import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentMessage } from "../../src/agent/index.ts";
import { createLlmFilter } from "../../src/agent/llm-filter.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const note = { role: "note", text: "for people" } as unknown as AgentMessage;

describe("the default convertToLlm", () => {
  it("returns a copy of the messages that a model understands, also when the list grows or is replaced", () => {
    const filter = createLlmFilter();
    const messages = [user("a")];
    assert.deepEqual(filter(messages), [user("a")]);
    messages.push(user("b"));
    assert.deepEqual(filter(messages), [user("a"), user("b")]);
    messages.push(note, user("c"));
    assert.deepEqual(filter(messages), [user("a"), user("b"), user("c")]);
    assert.deepEqual(filter([note, user("d")]), [user("d")]);
    assert.notEqual(filter(messages), messages);
  });

  it("looks once at each message of a list that grows", () => {
    const filter = createLlmFilter();
    let looks = 0;
    const messages: AgentMessage[] = [];
    for (let turn = 0; turn < 100; turn++) {
      const message = user(`${turn}`);
      const { role } = message;
      messages.push(Object.defineProperty(message, "role", { get: () => (looks++, role) }));
      filter(messages);
    }
    assert.equal(looks, 100);
  });

  it("leaves out a custom message that replaced a removed one, at the same length or longer", () => {
    for (const more of [[], [user("c")]]) {
      const filter = createLlmFilter();
      const messages = [user("a"), user("b")];
      filter(messages);
      messages.pop();
      messages.push(note, ...more);
      assert.deepEqual(filter(messages), [user("a"), ...more]);
    }
  });
});
