import assert from "node:assert/strict";
import { it } from "node:test";
import { noteSource, type AssistantMessage } from "../../src/llm/message.ts";

const answer = (): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: "openai-chat",
  provider: "custom",
  model: "m",
  usage: {},
  stopReason: "stop",
  timestamp: 1,
});

it("records the first id of an answer, and the first model that is not the requested one", () => {
  const message = answer();
  for (const [id, model] of [
    ["", ""],
    [7, null],
    ["a", "m"],
    ["b", "m-2026"],
    ["c", "m-2027"],
  ])
    noteSource(message, id, model);
  assert.deepEqual([message.responseId, message.responseModel], ["a", "m-2026"]);
});

it("leaves out what the server does not say", () => {
  const message = answer();
  noteSource(message, undefined, "m");
  noteSource(message, "", "");
  assert.deepEqual(message, answer());
});
