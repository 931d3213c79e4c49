/** Compaction in a conversation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { KEY, Talk } from "./converse.ts";

const long = (name: string): { content: { type: "text"; text: string }[]; usage: object } => ({
  content: [{ type: "text", text: `${name} ${"It holds. ".repeat(8000)}` }],
  usage: { input: 30_000, output: 20_000 },
});

async function threeAnswers(...more: (string | { readonly wait: true })[]): Promise<Talk> {
  const talk = await Talk.begin(
    [
      long("one"),
      long("two"),
      long("three"),
      ...more.map((step) =>
        typeof step === "string" ? step : () => new Promise<string>(() => {}),
      ),
    ],
    { deltaLength: 100_000 },
  );
  for (const text of ["which?", "what?", "why?"]) {
    talk.send(text);
    await talk.until((shown) => shown.includes(`> ${text}`));
    await talk.idle();
  }
  return talk;
}

test("/compact shows the size before and after, and keeps the entries", async () => {
  await using talk = await threeAnswers("The summary.", "went on");
  talk.send("/compact keep the names");
  const shown = await talk.until(/compaction: [\d.]+k → [\d.]+k tokens, summarized/);
  assert.match(shown, /the session keeps the old messages/);
  await talk.idle();
  const asked = talk.model.calls[3]?.context.messages.map(messageText).join("\n") ?? "";
  assert.match(asked, /keep the names/);
  talk.send("go on");
  await talk.until(/went on/);
  await talk.idle();
  const next = talk.model.calls[4]?.context.messages.map(messageText).join("\n") ?? "";
  assert.match(next, /The summary\./);
  const session = await talk.reopened();
  const all = (await session.allMessages()).map((message) =>
    messageText(message as Parameters<typeof messageText>[0]),
  );
  assert.ok(all.some((text) => text.startsWith("one It holds.")));
  const context = (await session.contextMessages()).map((message) =>
    messageText(message as Parameters<typeof messageText>[0]),
  );
  assert.ok(context.some((text) => text.includes("The summary.")));
  assert.ok(!context.some((text) => text.startsWith("one It holds.")));
  await session.close();
});

test("Esc ends a compaction, and the conversation stays as it was", async () => {
  await using talk = await threeAnswers({ wait: true });
  talk.send("/compact");
  await talk.until(/^compacting/m);
  talk.type(KEY.escape);
  await talk.until(() => !talk.conversation.isBusy);
  assert.equal(talk.conversation.runtime.agent.state.messages.length, 6);
  await talk.until((shown) => !/^compacting/m.test(shown));
});

test("/compact drops nothing in a resumed session that has asked no model yet", async () => {
  await using talk = await threeAnswers();
  const { store } = talk;
  const session = await talk.reopened();
  await using again = await Talk.begin([], { store, session });
  again.send("/compact");
  await again.until(/Send a message first/);
  assert.equal(again.conversation.runtime.agent.state.messages.length, 6);
});
