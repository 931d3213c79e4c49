import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent, AgentMessage } from "../../src/agent/index.ts";
import { entriesOfEvent } from "../../src/session/event-entries.ts";

const said = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const messages = [said("a"), said("b"), said("c")];
const ids = new Map(messages.map((message, index) => [message, `e${index}`]));

function entries(fields: object): unknown[] {
  const event = {
    type: "compaction_end",
    runId: "r",
    seq: 1,
    outcome: "summary",
    summary: "So far.",
    firstKeptIndex: 2,
    firstKept: messages[2],
    tokensBefore: 10,
    tokensAfter: 5,
    usage: {},
    ...fields,
  };
  return entriesOfEvent(event as AgentEvent, { messages, idOf: (message) => ids.get(message) });
}

describe("the entry of a compaction", () => {
  it("names the first message that was kept", () => {
    const kept = (fields: object): unknown[] =>
      entries(fields).map((entry) => (entry as { firstKeptId: unknown }).firstKeptId);
    assert.deepEqual(kept({}), ["e2"]);
    assert.deepEqual(kept({ firstKeptIndex: 3, firstKept: undefined }), [null]);
  });

  it("is not written for a transcript that a hook made for one request", () => {
    assert.deepEqual(entries({ firstKept: said("c") }), []);
    assert.deepEqual(entries({ firstKeptIndex: 5, firstKept: messages[2] }), []);
    assert.deepEqual(entries({ firstKept: undefined }), []);
  });

  it("is not written when nothing was compacted, but the usage is", () => {
    const usage = { input: 5 };
    assert.deepEqual(entries({ outcome: "none", usage }), [{ type: "usage", runId: "r", usage }]);
  });
});
