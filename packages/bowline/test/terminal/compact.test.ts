/** A compaction and its undo, in a real terminal. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { converse, type Conversation } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

/** About 25,000 tokens: more than a compaction keeps. */
const long = (name: string): string => `${name} ${"It holds. ".repeat(10_000)}`;

/** Opens a conversation, waits for the answers to two messages, and compacts it. */
async function compacted(tmux: Tmux, columns: number): Promise<Conversation> {
  const chat = await converse(
    tmux,
    ({ last }, number) => {
      if (number <= 2) return [{ text: long(`Part ${number}.`) }];
      return last.includes("summary") ? "The gist." : `Answer ${number}.`;
    },
    { columns, rows: 30 },
  );
  await compact(chat).catch(async (error: unknown) => {
    // The first error says what went wrong.
    await Promise.resolve(chat[Symbol.asyncDispose]()).catch(() => {});
    throw error;
  });
  return chat;
}

async function compact(chat: Conversation): Promise<void> {
  // The line of each request comes at its end: the second one has the first answer in it.
  for (const [text, end] of [
    ["message 1", /\b\d\.\dk\s+in\b/],
    ["message 2", /\b\d\d\.\dk\s+in\b/],
  ] as const) {
    await chat.say(text);
    await chat.window.untilHistory(end);
    await chat.idle();
  }
  await chat.say("/compact");
  await chat.window.untilHistory(/summarized/);
  await chat.idle();
}

describe("/uncompact", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  for (const columns of [100, 40])
    it(`is completed, shows both sizes and sends the earlier messages again, at ${columns} columns`, async () => {
      await using chat = await compacted(tmux, columns);
      await chat.window.type("/unc");
      await chat.window.until(/uncompact/);
      await chat.window.press("Enter");
      await chat.window.press("Enter");
      const screen = await chat.window.until(
        /compaction\s+undone:\s+[\d.]+k?\s+→\s+[\d.]+k\s+tokens/,
      );
      assert.match(screen, /earlier\s+messages\s+again/);
      await chat.say("and now?");
      await chat.window.until(/Answer \d\./);
      const { messages } = chat.vendor.asked.at(-1) ?? { messages: [] };
      const parts = messages.flatMap(({ text }) => /^Part \d/.exec(text)?.[0] ?? []);
      assert.deepEqual(parts, ["Part 1", "Part 2"]);
      assert.ok(!messages.some(({ text }) => text.includes("The gist.")));
    });

  it("survives a kill -9: the next process sends the earlier messages", async () => {
    await using first = await compacted(tmux, 100);
    await first.say("/uncompact");
    await first.window.until(/compaction undone/);
    await sleep(400); // the draft is saved after 200 ms, and then no longer has the command
    process.kill(await first.window.pid(), "SIGKILL");
    await first.window.exit();
    await using second = await converse(tmux, () => "", { after: first, args: ["--continue"] });
    await second.window.until(/compaction undone: [\d.]+k? → [\d.]+k tokens/);
    const count = second.vendor.asked.length;
    await second.say("and now?");
    const { messages } = await second.request(count);
    const parts = messages.flatMap(({ text }) => /^Part \d/.exec(text)?.[0] ?? []);
    assert.deepEqual(parts, ["Part 1", "Part 2"]);
    await second.idle();
    await second.say("/uncompact");
    await second.window.until(/Nothing is compacted/);
  });
});
