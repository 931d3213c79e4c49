import assert from "node:assert/strict";
import { it } from "node:test";
import { emptyMessage } from "../../src/llm/event.ts";
import { noteSource } from "../../src/llm/message.ts";

const origin = { api: "openai-chat", provider: "custom", model: "m", timestamp: 1 } as const;

it("records the first id of an answer, and the first model that is not the requested one", () => {
  const message = emptyMessage(origin);
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
  const message = emptyMessage(origin);
  noteSource(message, undefined, "m");
  noteSource(message, "", "");
  assert.deepEqual(message, emptyMessage(origin));
});
