/** The comparison that decides whether an encoded message is sent again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../../src/llm/message.ts";
import { walkMessage, walkValue } from "../../src/providers/walk-values.ts";

const user: Message = { role: "user", content: "Hi", timestamp: 1 };
const result: Message = {
  role: "toolResult",
  toolCallId: "c",
  toolName: "f",
  content: [{ type: "text", text: "ok" }],
  isError: false,
  timestamp: 1,
};
const answer: Message = {
  role: "assistant",
  content: [{ type: "toolCall", id: "c", name: "f", arguments: { path: ["a", { b: 1 }] } }],
  api: "a",
  provider: "p",
  model: "m",
  usage: {},
  stopReason: "toolUse",
  timestamp: 1,
};

/** Returns whether `after` is compared as equal to `before`, and is walked to the same place. */
function areSame(before: Message | undefined, after: Message | undefined): boolean {
  const values: unknown[] = [];
  const end = walkMessage(before, values, 0);
  const found = walkMessage(after, values, 0);
  assert.ok(found === -1 || found === end);
  return found !== -1;
}

const called = (args: Record<string, unknown>): object => ({
  content: [{ type: "toolCall", id: "c", name: "f", arguments: args }],
});

describe("an encoded message", () => {
  it("is reused for an equal one, whatever the encoders do not read", () => {
    for (const message of [user, result, answer])
      assert.ok(areSame(message, { ...structuredClone(message), timestamp: 2 }));
  });

  for (const [message, change] of [
    [user, { content: "Ho" }],
    [user, { content: [{ type: "text", text: "Hi" }] }],
    [result, { role: "user" }],
    [result, { toolCallId: "d" }],
    [result, { isError: true }],
    [result, { content: [{ type: "text", text: "no" }] }],
    [result, { content: [] }],
    [answer, { api: "b" }],
    [answer, { provider: "q" }],
    [answer, { model: "n" }],
    [answer, { stopReason: "aborted" }],
    [answer, { errorMessage: "Cut." }],
    [answer, called({ path: ["a", { b: 2 }] })],
    [answer, called({ path: ["a", { c: 1 }] })],
    [answer, called({ path: ["a", { b: 1 }, 2] })],
    [answer, called({ path: ["a"] })],
    [answer, called({ path: ["a", [1]] })],
    [answer, called({ path: ["a", { b: 1 }], more: 1 })],
    [answer, called({})],
  ] as const)
    it(`is not reused for one of ${message.role} with ${JSON.stringify(change)}`, () => {
      const changed = { ...message, ...change } as Message;
      assert.equal(areSame(message, changed), false);
      assert.equal(areSame(changed, message), false);
    });

  it("is not reused for an empty list in place of an empty object", () => {
    const [list, object] = [called({ path: [] }), called({ path: {} })].map((change) => ({
      ...answer,
      ...change,
    }));
    assert.equal(areSame(list, object), false);
    assert.equal(areSame(object, list), false);
  });

  it("is not reused for a message that is gone", () => {
    assert.equal(areSame(user, undefined), false);
  });

  it("is walked from its place among the values", () => {
    const values: unknown[] = [];
    const first = walkMessage(answer, values, walkValue(["setting"], values, 0));
    const end = walkMessage(result, values, first);
    assert.equal(end, values.length);
    assert.equal(walkMessage(result, values, first), end);
    assert.equal(walkMessage(user, values, first), -1);
  });
});
