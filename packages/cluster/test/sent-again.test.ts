/** What a client is told of a message that it sends again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessagePlace, OpenRun, PostgresStore } from "@bowline/postgres";
import { answerAgain } from "../src/engine/sent-again.ts";

interface Stored {
  readonly open?: readonly OpenRun[];
  /** Where the message is when it is looked for once more. */
  readonly later?: MessagePlace;
  /** The text of the message in the transcript. */
  readonly text?: string;
}

function storeWith({ open = [], later = { state: "pending" }, text }: Stored): PostgresStore {
  const message = { role: "user", content: text, timestamp: 1, messageId: "m" };
  const entry = { seq: 0, id: "e", parentId: null, timestamp: 1, type: "message", message };
  const store = {
    durable: {
      openRuns: async () => open,
      waiting: async () => [],
      findMessage: async () => later,
    },
    async *read() {
      if (text !== undefined) yield [entry];
    },
  };
  return store as unknown as PostgresStore;
}

async function answered(place: MessagePlace, stored: Stored = {}): Promise<[string, string]> {
  const params = { sessionKey: "s", message: "Hi", idempotencyKey: "m" };
  const { result } = await answerAgain(storeWith(stored), { id: "m", place, params });
  return [result.runId, result.status];
}

const running: OpenRun = { sessionId: "s", runId: "r", state: "running", at: 1 };

describe("a message that is sent again", () => {
  it("has its run while that is open, and is finished afterwards", async () => {
    const taken = { state: "taken", runId: "r" } as const;
    assert.deepEqual(await answered(taken, { open: [running], text: "Hi" }), ["r", "in_flight"]);
    assert.deepEqual(await answered(taken, { text: "Hi" }), ["r", "finished"]);
  });

  it("names the run that it waits for, and none that will never be", async () => {
    const queued: OpenRun = { sessionId: "s", runId: "m", state: "queued", at: 1 };
    const begins = { state: "pending", runId: "m" } as const;
    assert.deepEqual(await answered(begins, { open: [running, queued] }), ["m", "in_flight"]);
    assert.deepEqual(await answered({ state: "pending" }, { open: [running] }), ["r", "in_flight"]);
    assert.deepEqual(await answered({ state: "pending" }), ["m", "waiting"]);
    assert.deepEqual(await answered({ state: "cancelled", runId: "m" }), ["m", "finished"]);
  });

  it("has the run that took it and ended while the answer was looked up", async () => {
    const later = { state: "taken", runId: "r" } as const;
    assert.deepEqual(await answered({ state: "pending" }, { later }), ["r", "finished"]);
  });

  it("is refused with another text", async () => {
    const taken = { state: "taken", runId: "r" } as const;
    await assert.rejects(answered(taken, { text: "Other" }), /used for another message/);
  });
});
