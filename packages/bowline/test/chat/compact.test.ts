/** Compaction in a conversation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { KEY, Talk, type TalkOptions } from "./converse.ts";

const long = (name: string): { content: { type: "text"; text: string }[]; usage: object } => ({
  content: [{ type: "text", text: `${name} ${"It holds. ".repeat(8000)}` }],
  usage: { input: 30_000, output: 20_000 },
});

async function threeAnswers(...more: (string | { readonly wait: true })[]): Promise<Talk> {
  return threeAnswersIn({}, ...more);
}

async function threeAnswersIn(
  options: TalkOptions,
  ...more: (string | { readonly wait: true })[]
): Promise<Talk> {
  const talk = await Talk.begin(
    [
      long("one"),
      long("two"),
      long("three"),
      ...more.map((step) =>
        typeof step === "string" ? step : () => new Promise<string>(() => {}),
      ),
    ],
    { deltaLength: 100_000, ...options },
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

/** The texts of a request, each by its first word. */
function sentIn(talk: Talk, call: number): string[] {
  const { messages } = talk.model.calls[call]?.context ?? { messages: [] };
  return messages.map((message) => messageText(message).split(/\s/)[0] ?? "");
}

const WHOLE = ["which?", "one", "what?", "two", "why?", "three"];

for (const isSaved of [true, false]) {
  const how = isSaved ? "" : ", also if nothing is saved";

  test(`/uncompact sends the earlier messages again, and shows both sizes${how}`, async () => {
    const options = { isSaved, contextWindow: 200_000 };
    await using talk = await threeAnswersIn(options, "The summary.", "short", "whole");
    talk.send("/compact");
    await talk.until(/summarized/);
    await talk.idle();
    talk.send("go on");
    await talk.until(/short/);
    await talk.idle();
    assert.ok(!sentIn(talk, 4).includes("one"), String(sentIn(talk, 4)));
    talk.send("/uncompact");
    const shown = await talk.until(/compaction undone: ([\d.]+)k → ([\d.]+)k tokens;/);
    const [, before, after] = /undone: ([\d.]+)k → ([\d.]+)k/.exec(shown) ?? [];
    assert.ok(Number(after) > Number(before) + 20, `${before} → ${after}`);
    await talk.idle();
    assert.match(await talk.shown(), new RegExp(`context ${Math.round(Number(after) / 2)}%`));
    talk.send("and now?");
    await talk.until(/^whole/m);
    assert.deepEqual(sentIn(talk, 5), [...WHOLE, "go", "short", "and"]);
    await talk.idle();
    talk.send("/uncompact");
    await talk.until(/Nothing is compacted/);
  });

  test(`several compactions are undone one by one from the last${how}`, async () => {
    const options = { isSaved, contextWindow: 200_000, deltaLength: 100_000 };
    const script = [long("one"), long("two"), "First summary.", long("three"), long("four")];
    const more = ["Second summary.", "after one", "after both"];
    await using talk = await Talk.begin([...script, ...more], options);
    const say = async (text: string): Promise<void> => {
      talk.send(text);
      await talk.until((shown) => shown.includes(`> ${text}`));
      await talk.idle();
    };
    for (const text of ["a", "b", "/compact", "c", "d", "/compact"]) await say(text);
    talk.send("/uncompact");
    await talk.until(/An earlier compaction stays; \/uncompact undoes it too/);
    await say("e");
    const texts = talk.model.calls[6]?.context.messages.map(messageText).join("\n") ?? "";
    assert.match(texts, /First summary\.[^]*three It holds[^]*four It holds/);
    assert.doesNotMatch(texts, /Second summary|one It holds/);
    talk.send("/uncompact");
    await talk.until((shown) => shown.split("compaction undone:").length === 3);
    await talk.idle();
    await say("f");
    const all = ["a", "one", "b", "two", "c", "three", "d", "four", "e", "after", "f"];
    assert.deepEqual(sentIn(talk, 7), all);
  });
}

/** Opens the conversation again, with a model whose window has this size. */
async function later(talk: Talk, contextWindow: number, answers: readonly string[]): Promise<Talk> {
  const { store } = talk;
  return Talk.begin(answers, { store, session: await talk.reopened(), contextWindow });
}

test("/uncompact says before that the next request would be compacted again, and then does as told", async () => {
  await using first = await threeAnswersIn({ contextWindow: 200_000 }, "The summary.");
  first.send("/compact");
  await first.until(/summarized/);
  await first.idle();
  await using talk = await later(first, 60_000, ["Another summary.", "went on"]);
  talk.send("/uncompact");
  const shown = await talk.until(/Not undone: a request would have about [\d.]+k tokens\./);
  assert.match(shown, /would be compacted\s+again at once/);
  await talk.idle();
  assert.notEqual(await talk.conversation.session?.compaction(), undefined);
  talk.send("/uncompact anyway");
  await talk.until(/The next request is compacted again: it is above 45\.0k/);
  await talk.idle();
  assert.equal(talk.model.calls.length, 0);
  talk.send("go on");
  const end = await talk.until(/went on/);
  assert.equal(end.split(", summarized;").length, 3);
  assert.equal(talk.model.calls.length, 2);
});

test("/uncompact undoes a compaction that a run of an earlier process made", async () => {
  await using first = await threeAnswersIn({ contextWindow: 200_000 });
  await using second = await later(first, 60_000, ["The summary.", "short"]);
  second.send("go on");
  await second.until(/ tokens, summarized/);
  await second.until(/^short/m);
  await second.idle();
  await using third = await later(second, 200_000, ["whole"]);
  assert.match(await third.shown(), /compaction: [\d.]+k → [\d.]+k? tokens/);
  third.send("/uncompact");
  await third.until(/compaction undone/);
  await third.idle();
  third.send("and?");
  await third.until(/^whole/m);
  assert.deepEqual(sentIn(third, 0), [...WHOLE, "go", "short", "and?"]);
  await third.idle();
  await using last = await later(third, 200_000, []);
  assert.match(await last.shown(), /compaction undone: [\d.]+k? → [\d.]+k tokens/);
});

test("/uncompact waits for a pause, and /compact undo compacts nothing", async () => {
  await using talk = await threeAnswersIn({ contextWindow: 200_000 }, { wait: true });
  talk.send("/compact undo");
  await talk.until(/Nothing was compacted\. \/uncompact undoes the last compaction\./);
  talk.send("/uncompact nevertheless");
  await talk.until(/takes nothing, or "anyway"/);
  talk.send("go on");
  await talk.until(/> go on/);
  talk.send("/uncompact");
  await talk.until(/\/uncompact needs a pause: Esc interrupts what works/);
  assert.equal(talk.editor.text(), "/uncompact");
  assert.equal(talk.model.calls.length, 4);
});
