import assert from "node:assert/strict";
import { it } from "node:test";
import type { AgentMessage } from "../../src/agent/index.ts";
import { firstAnswer } from "../../src/ui-stream/chat-run.ts";

it("finds the first answer of an interrupted run by its number of turns", () => {
  const roles = ["user", "assistant", "user", "assistant", "toolResult", "toolResult", "assistant"];
  const messages = roles.map((role) => ({ role, content: [] }) as unknown as AgentMessage);
  const found = [0, 1, 2, 3, 4].map((turns) => firstAnswer(messages, { turns }));
  assert.deepEqual(found, [7, 6, 3, 1, 0]);
  assert.equal(firstAnswer([], { turns: 1 }), 0);
});
