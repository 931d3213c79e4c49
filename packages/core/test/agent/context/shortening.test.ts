/** How far a compaction goes when no model writes summaries. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCompaction } from "../../../src/agent/context/compaction.ts";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import type { Message } from "../../../src/llm/message.ts";
import { task, turn, user } from "./rig.ts";

/** Returns what a compaction without a model shows of the messages, and its state. */
async function compacted(
  messages: Message[],
  options: Parameters<typeof createCompaction>[0],
): Promise<{ shown: Message[]; state: ReturnType<typeof createCompaction>["state"] }> {
  const compaction = createCompaction(options);
  const shown = (await compaction.transformContext(messages)) as Message[];
  return { shown, state: compaction.state };
}

describe("a compaction", () => {
  it("shortens results no more than it must", async () => {
    // About 10,000 tokens, of which 2,048 fit and 8,192 do not.
    const { shown, state } = await compacted(task(1, 40_000), { contextWindow: 8000 });
    assert.equal(state?.maxResultTokens, 2048);
    const [, , result] = shown;
    const tokens = estimateTokens(result as Message);
    assert.ok(tokens > 1024 && tokens < 2100, `${tokens} tokens`);
  });

  it("leaves results whole when it is enough to drop older messages", async () => {
    const { shown, state } = await compacted(task(20, 400), {
      contextWindow: 2000,
      keepRecentTokens: 400,
    });
    assert.equal(state?.maxResultTokens, undefined);
    assert.ok((state?.firstKeptIndex ?? 0) > 30);
    assert.deepEqual(shown.slice(-2), turn(20, 400));
  });

  it("does not limit results when that would not make it smaller", async () => {
    const last = user("word ".repeat(2000), 9);
    const { state } = await compacted([...task(6, 400), last], {
      contextWindow: 2000,
      keepRecentTokens: 1,
    });
    assert.equal(state?.maxResultTokens, undefined);
  });
});
