/**
 * A log that an earlier version wrote, by a process that was killed in its second run:
 * logs/before.jsonl, written by commit 6ee7319. It is read, resumed and exported.
 */
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Agent, messageText } from "../../../src/index.ts";
import { openSession, resumeSession, sessionToMarkdown } from "../../../src/session/index.ts";
import { createJsonlStore } from "../../../src/session/node/index.ts";
import type { Store } from "../../../src/session/index.ts";
import { createScriptedModel } from "../../../src/testing/index.ts";
import { tool } from "../../support.ts";
import { temporaryFolder } from "../support.ts";

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  const log = join(import.meta.dirname, "logs/before.jsonl");
  await copyFile(log, join(folder.path, "before.jsonl"));
  await work(createJsonlStore(folder.path));
}

describe("a log of an earlier version", () => {
  it("is listed and exported whole, without damage", () =>
    withStore(async (store) => {
      const { sessions } = await store.list();
      assert.deepEqual(
        sessions.map(({ id, title, messageCount }) => ({ id, title, messageCount })),
        [{ id: "before", title: "The harbour", messageCount: 8 }],
      );
      const session = await openSession(store, "before", { readOnly: true });
      const { run } = await session.state();
      assert.deepEqual([run?.runId, run?.hasBegun, run?.reason], ["id19", true, undefined]);
      const text = await sessionToMarkdown(session);
      for (const said of ["Ring and ask.", "Ding Ding", "Rung twice, high water at 14:10."])
        assert.ok(text.includes(said), said);
    }));

  it("is resumed where its process was killed, with what was queued, and nothing run twice", () =>
    withStore(async (store) => {
      const { model, streamFn, calls } = createScriptedModel(["Rung once more.", "Good night."]);
      let rings = 0;
      const agent = new Agent({ model, streamFn, tools: [tool("bell", () => `Ding ${++rings}`)] });
      const { session, result } = await resumeSession(store, "before", agent);
      assert.deepEqual([result?.reason, result?.text, rings], ["done", "Good night.", 0]);
      assert.deepEqual(
        agent.state.messages.map((message) => `${message.role}: ${messageText(message).trim()}`),
        [
          "user: Ring and ask.",
          "assistant: ",
          "toolResult: Ding Ding",
          "toolResult: It is high at 14:10.",
          "assistant: Rung twice, high water at 14:10.",
          "user: Once more.",
          "assistant: ",
          "toolResult: Ding",
          "assistant: Rung once more.",
          "user: And then rest.",
          "assistant: Good night.",
        ],
      );
      assert.equal(calls[0]?.context.messages.length, 8);
      await session.close();
    }));
});
