/** What a gateway says of one session. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSecretFilter } from "bowline/engine";
import { ClusterSessions } from "../src/engine/sessions.ts";

describe("sessions.get of a cluster", () => {
  it("reads no entry, however long the session is", async () => {
    const summary = {
      id: "s",
      createdAt: 1,
      title: "T",
      updatedAt: 2,
      entryCount: 9,
      messageCount: 3,
    };
    const store = { summary: () => Promise.resolve(summary) };
    const run = { runId: "r", sessionKey: "s", state: "running", seq: 4 };
    const sessions = new ClusterSessions(
      { store, filter: createSecretFilter([]) } as never,
      { ofSession: () => Promise.resolve([run]) } as never,
    );
    const { session } = await sessions.get({ sessionKey: "s" });
    assert.deepEqual([session.title, session.messageCount, session.runs], ["T", 3, [run]]);
  });
});
