/** Compactions of any transcript and of given ones, through the hook alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { createBudget } from "../../../src/agent/contract/budget.ts";
import type { AgentMessage } from "../../../src/agent/index.ts";
import { createCompaction, type Compaction } from "../../../src/agent/context/compaction.ts";
import type { CompactionEvent } from "../../../src/agent/contract/compaction-event.ts";
import type { CompactionOptions } from "../../../src/agent/context/compaction-options.ts";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import { BowlineError } from "../../../src/errors.ts";
import { messageText, type Context, type Message } from "../../../src/llm/message.ts";
import type { StreamOptions } from "../../../src/llm/model.ts";
import { createScriptedModel, type ScriptedStep } from "../../../src/testing/index.ts";
import {
  answering,
  assertAccepted,
  longTranscripts,
  partedBy,
  sumOf,
  task,
  turn,
  user,
} from "./rig.ts";
import { code } from "../../../../../test/support/error-code.ts";
import { settle } from "../../../../../test/support/manual-clock.ts";
import { texts } from "../../../../../test/support/message-texts.ts";

type End = Extract<CompactionEvent, { type: "compaction_end" }>;

interface Set {
  readonly compaction: Compaction;
  readonly ends: End[];
  /** The requests to the summarising model. */
  readonly asked: Context[];
  readonly options: StreamOptions[];
  readonly transform: (
    messages: readonly AgentMessage[],
    signal?: AbortSignal,
  ) => Promise<AgentMessage[]>;
}

/**
 * A compaction with a separate scripted model, in a window of 2,000 tokens of which 400 are for the
 * newest messages.
 */
function set(script: readonly ScriptedStep[], options: CompactionOptions = {}): Set {
  const { model, streamFn } = createScriptedModel(script, { deltaLength: 1000 });
  const ends: End[] = [];
  const asked: Context[] = [];
  const told: StreamOptions[] = [];
  const compaction = createCompaction({
    model,
    streamFn: (...call) => {
      asked.push(call[1]);
      told.push(call[2]);
      return streamFn(...call);
    },
    streamOptions: { random: () => 0 },
    contextWindow: 2000,
    keepRecentTokens: 400,
    ...options,
    onCompaction: async (event) => {
      if (event.type === "compaction_end") ends.push(event);
      await options.onCompaction?.(event);
    },
  });
  const transform: Set["transform"] = (messages, signal) =>
    compaction.transformContext([...messages], signal);
  return { compaction, ends, asked, options: told, transform };
}

const overloaded = { error: new BowlineError("overloaded", "Busy.", { retryable: true }) };
const refused = { error: new BowlineError("authentication_failed", "No such key.") };

describe("a compacted transcript", () => {
  const writers = {
    writes: () => "Goal: all. ".repeat(8),
    fails: () => refused,
    rambles: () => "世界 ".repeat(3000),
  };
  const cases = fc.record({
    messages: longTranscripts,
    more: fc.integer({ min: 0, max: 3 }),
    contextWindow: fc.integer({ min: 40, max: 3000 }),
    keepRecentTokens: fc.integer({ min: 0, max: 900 }),
    writer: fc.constantFrom("writes", "fails", "rambles", undefined),
  });
  const forAll = (
    check: (one: {
      messages: Message[];
      more: number;
      options: CompactionOptions;
    }) => Promise<void>,
  ): Promise<void> =>
    fc.assert(
      fc.asyncProperty(cases, ({ messages, more, writer, ...limits }) => {
        const { model } = createScriptedModel([]);
        const written = writer && { model, streamFn: answering(writers[writer]) };
        return check({
          messages,
          more,
          options: { ...limits, ...written, streamOptions: { random: () => 0 } },
        });
      }),
      { numRuns: 200, seed: 20261121 },
    );

  it("is accepted by strict servers, never larger, and keeps the last user message and whole call pairs", () =>
    forAll(async ({ messages, options }) => {
      const compaction = createCompaction(options);
      const before = JSON.stringify(messages);
      const all = await compaction.transformContext(messages);
      assertAccepted(all);
      const shown = withoutNote(all);
      assert.ok(sumOf(shown) <= sumOf(messages));
      assert.ok(shown.includes(messages.findLast(({ role }) => role === "user") as Message));
      assert.deepEqual(partedBy(messages, compaction.state?.firstKeptIndex ?? 0), []);
      assert.equal(JSON.stringify(messages), before);
    }));

  it("is the same on each call while nothing changes, also in another process", () =>
    forAll(async ({ messages, options }) => {
      let calls = 0;
      const { streamFn } = options;
      const counted = streamFn && {
        streamFn: ((...call) => (calls++, streamFn(...call))) as typeof streamFn,
      };
      const compaction = createCompaction({ ...options, ...counted });
      const shown = withoutNote(await compaction.transformContext(messages));
      const { state } = compaction;
      const made = calls;
      assert.deepEqual(await compaction.transformContext(messages), shown);
      assert.deepEqual(compaction.state, state);
      assert.equal(calls, made, "asked again");
      const restored = createCompaction({
        ...options,
        contextWindow: 1e9,
        state: state && JSON.parse(JSON.stringify(state)),
      });
      assert.deepEqual(await restored.transformContext(messages), shown);
    }));

  it("only grows at its end, so that a server's cache stays valid", () =>
    forAll(async ({ messages, more, options }) => {
      const compaction = createCompaction(options);
      const shown = withoutNote(await compaction.transformContext(messages));
      const { state } = compaction;
      const grown = [
        ...messages,
        ...Array.from({ length: more }, (_, index) => turn(100 + index)).flat(),
      ];
      const next = await compaction.transformContext(grown).catch((error: unknown) => {
        assert.ok(code("no_progress")(error));
        return undefined;
      });
      if (next === undefined) return;
      assertAccepted(next);
      if (compaction.state !== state) return;
      assert.deepEqual(next.slice(0, shown.length), shown);
      const restored = createCompaction({ ...options, contextWindow: 1e9, state });
      assert.deepEqual(await restored.transformContext(grown), withoutNote(next));
    }));
});

describe("a compaction", () => {
  it("leaves a conversation below the limit unchanged", async () => {
    const { transform, ends } = set([]);
    const messages = task(10);
    assert.deepEqual(await transform(messages), messages);
    assert.deepEqual(ends, []);
  });

  it("sends the last user message, the summary and the newest turns", async () => {
    const { transform, ends, compaction } = set(["Goal: read."]);
    const messages = task(20);
    const shown = await transform(messages);
    assert.deepEqual(shown[0], messages[0]);
    assert.deepEqual(texts(shown.slice(1, 2)), [
      "user: Earlier messages were replaced by this summary to save space:\n\nGoal: read.",
    ]);
    assert.deepEqual(shown.slice(2), messages.slice(-6));
    const [end] = ends;
    assert.ok(end !== undefined);
    const { tokensBefore, tokensAfter, freed, firstKept, ...rest } = end;
    assert.deepEqual(rest, {
      type: "compaction_end",
      reason: "limit",
      outcome: "summarized",
      summary: "Goal: read.",
      firstKeptIndex: 35,
      usage: {},
    });
    assert.equal(firstKept, messages[35]);
    assert.deepEqual(
      [tokensBefore, tokensAfter, freed],
      [sumOf(messages), sumOf(shown), sumOf(messages) - sumOf(shown)],
    );
    assert.equal(compaction.state?.firstKeptIndex, 35);
  });

  it("sends a user message of the newest turns only once", async () => {
    const { transform } = set(["Goal: read."]);
    const messages = [...task(20), user("And?", 99)];
    assert.equal((await transform(messages)).filter(({ role }) => role === "user").length, 2);
  });

  it("sends a user message that is the first of the newest ones only once, after the summary", async () => {
    const { transform } = set(["Goal: read."], { keepRecentTokens: 1 });
    const last = user("And?", 99);
    const [summary, ...rest] = await transform([...task(40), last]);
    assert.match(texts([summary as Message])[0] ?? "", /Goal: read\./);
    assert.deepEqual(rest, [last]);
  });

  it("gives the model the older messages as bounded text, and limits the summary's tokens", async () => {
    const { transform, asked, options } = set(["Goal: read."]);
    const failed = {
      ...turn(0)[0],
      content: [{ type: "text", text: "half a th" }],
      stopReason: "error",
    } as Message;
    await transform([...task(60).slice(0, 1), failed, ...task(60).slice(1)]);
    const [context] = asked;
    const text = messageText(context?.messages[0] as Message);
    assert.equal(context?.messages.length, 1);
    assert.match(
      text,
      /^<conversation>\n\[user\]\nRead all of it\.\n\n\[assistant calls read\]\n\{"number":1\}\n\n\[result of read\]\n1: word/,
    );
    // A quarter of the available room, and the tokens that a thinking model needs before it writes.
    assert.deepEqual([options[0]?.maxTokens, options[0]?.maxRetries], [375 + 8192, 0]);
    assert.ok(estimateTokens(text) < 1500, `${estimateTokens(text)} tokens`);
  });

  it("summarises the old summary and the later messages", async () => {
    const { transform, asked, compaction } = set([
      "Goal: read. Done: some.",
      "Goal: read. Done: more.",
    ]);
    await transform(task(20));
    const shown = await transform(task(40));
    const text = messageText(asked[1]?.messages[0] as Message);
    assert.match(text, /^<earlier_summary>\nGoal: read\. Done: some\.\n<\/earlier_summary>/);
    assert.ok(!text.includes('{"number":10}') && text.includes('{"number":20}'));
    assert.match(texts(shown)[1] ?? "", /Done: more/);
    assert.ok((compaction.state?.firstKeptIndex ?? 0) > 60);
  });

  it("uses the current window when the model was changed", async () => {
    let contextWindow = 4000;
    const { transform, ends } = set(["S.", "T."], {
      contextWindow: () => contextWindow,
      keepRecentTokens: 1500,
    });
    const messages = task(30);
    await transform(messages);
    contextWindow = 1500;
    await transform(messages);
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ["summarized", "summarized"],
    );
  });

  it("prefers the server's token counts to estimates, but not those from before a compaction", async () => {
    const { transform, ends, compaction } = set(["S."]);
    const messages = task(8);
    const last = messages.at(-2) as Message;
    Object.assign(last, { usage: { input: 1800, output: 100 } });
    await transform(messages);
    assert.equal(ends[0]?.tokensBefore, 1900 + estimateTokens(messages.at(-1) as Message));
    await transform(messages);
    await transform([...messages, ...turn(9)]);
    assert.equal(ends.length, 1);
    await compaction.compact(messages);
    assert.equal(ends[1]?.tokensBefore, ends[0]?.tokensAfter);
  });

  it("shortens a result that is larger than the window, without a model", async () => {
    const { transform, ends, asked } = set([]);
    const messages = task(1, 40_000);
    const shown = await transform(messages);
    assert.equal(ends[0]?.outcome, "shortened");
    assert.equal(asked.length, 0);
    assert.ok(sumOf(shown) < 1000);
    assert.match(texts(shown)[2] ?? "", /characters left out/);
  });

  it("includes custom messages, and converts them for the model with the agent's convertToLlm", async () => {
    const note = (text: string): AgentMessage => ({ role: "note", text, timestamp: 1 }) as never;
    const convertToLlm = (messages: AgentMessage[]): Message[] =>
      messages.map((message) =>
        (message.role as string) === "note"
          ? user((message as unknown as { text: string }).text)
          : message,
      );
    const { transform, asked } = set(["S."], { convertToLlm });
    const messages = [note("Mind the gap."), ...task(20), note("Now.")];
    const shown = await transform(messages);
    assert.ok(shown.includes(messages.at(-1) as AgentMessage));
    assert.match(messageText(asked[0]?.messages[0] as Message), /Mind the gap\./);
  });

  it("drops its summary for another transcript, and keeps it when only later messages are rewound", async () => {
    const { transform, compaction } = set(["S.", "T."]);
    const messages = task(20);
    await transform(messages);
    const { state } = compaction;
    assert.match(
      texts(await transform([...messages.slice(0, -2), user("No: stop.")]))[0] ?? "",
      /S\./,
    );
    assert.equal(compaction.state?.summary, state?.summary);
    const other = [user("Something else", 7), ...task(30, 10).slice(1)];
    assert.deepEqual(await transform(other), other);
    assert.equal(compaction.state, undefined);
  });

  it("counts another transcript from the start", async () => {
    const { transform, ends } = set([]);
    await transform(task(12));
    await transform([user("Hi"), ...task(12, 10).slice(1), ...turn(13, 1000)]);
    assert.deepEqual(ends, []);
  });

  it("runs on request, one at a time", async () => {
    let open = 0;
    const alone: ScriptedStep = async () => {
      assert.equal(++open, 1);
      await settle();
      open--;
      return "S.";
    };
    const { compaction, ends } = set([alone, alone], { contextWindow: 100_000 });
    const messages = task(20);
    assert.deepEqual(
      await Promise.all([compaction.compact(messages), compaction.compact(messages)]),
      [true, true],
    );
    assert.deepEqual(
      ends.map(({ reason, outcome }) => [reason, outcome]),
      [
        ["manual", "summarized"],
        ["manual", "summarized"],
      ],
    );
    assert.equal(await compaction.compact([user("Hi")]), false);
  });

  it("requests no summary that could be as long as the messages it replaces", async () => {
    const { transform, asked, ends } = set([]);
    await transform([user("Read."), ...turn(1, 1100), ...turn(2, 5200)]);
    assert.deepEqual([asked.length, ends[0]?.outcome], [0, "shortened"]);
  });

  it("ignores messages that another hook added at the end", async () => {
    const { transform, compaction } = set(["S."]);
    const messages = task(20);
    await transform([...messages, user("(A note for one request.)")]);
    const { state } = compaction;
    const shown = await transform([...messages, ...turn(21)]);
    assert.equal(compaction.state, state);
    assert.deepEqual(shown.slice(-2), turn(21));
    assertAccepted(shown);
  });

  it("scales estimates that are too high", async () => {
    const { transform, ends } = set(["S."]);
    const messages = task(40);
    Object.assign(messages.at(-2) as Message, { usage: { input: 1600, output: 10 } });
    const shown = await transform(messages);
    const { tokensBefore = 0, tokensAfter = 0 } = ends[0] ?? {};
    assert.ok(Math.abs(tokensAfter / tokensBefore - sumOf(shown) / sumOf(messages)) < 0.01);
  });

  it("does not shorten results that came after a rewind", async () => {
    const { transform } = set([]);
    const messages = task(1, 40_000);
    await transform(messages);
    const rewound = messages.slice(0, 1);
    await transform(rewound);
    const again = [...rewound, ...turn(9, 4000)];
    assert.deepEqual(await transform(again), again);
  });

  it("is restored from the fields of a session's entry", async () => {
    for (const [script, more] of [
      [["S."], 0],
      [[refused], 3],
    ] as const) {
      const { transform, ends } = set(script);
      const messages = task(20);
      await transform(messages);
      const { summary = "", firstKept } = ends[0] ?? {};
      const grown = [...messages, ...task(more).slice(1)];
      const firstKeptIndex = grown.indexOf(firstKept as Message);
      const restored = set([], {
        state: { summary, firstKeptIndex, messageCount: messages.length },
      });
      assert.deepEqual(texts(await restored.transform(grown)), texts(await transform(grown)));
    }
  });

  it("uses the API key of the provider that writes the summary", async () => {
    const getApiKey = (provider: string): string => `key of ${provider}`;
    const { transform, options } = set(["S."], { getApiKey, streamOptions: { apiKey: "another" } });
    await transform(task(20));
    assert.equal(options[0]?.apiKey, "key of scripted");
  });

  it("charges a shared budget for the summary's call", async () => {
    const budget = createBudget();
    const usage = { input: 900, output: 100, totalTokens: 1000 };
    const { transform, ends } = set([{ content: [{ type: "text", text: "S." }], usage }], {
      budget,
    });
    await transform(task(20));
    assert.deepEqual(ends[0]?.usage, usage);
    assert.deepEqual(budget.used, { turns: 0, tokens: 1000, cost: 0 });
  });

  it("forgets its failed attempts when the transcript changes", async () => {
    const { transform, ends } = set(
      Array.from({ length: 9 }, () => ({ error: new BowlineError("server_error", "No.") })),
      { minFreedShare: 0.99 },
    );
    const stuck = (at: number): Message[] => [user(`Read ${at}.`, at), ...task(20, 4000).slice(1)];
    await transform(stuck(1));
    const tries = ends.length;
    await transform(stuck(1));
    assert.equal(ends.length, tries);
    await transform(stuck(2));
    assert.equal(ends.length, tries + 1);
  });

  it("refuses limits that leave no room", () => {
    assert.throws(
      () => createCompaction({ contextWindow: 100, reserveTokens: 100 }),
      code("invalid_argument"),
    );
    assert.throws(() => createCompaction({ minFreedShare: 1 }), code("invalid_argument"));
  });
});

describe("a summary that fails", () => {
  it("is retried twice when that may help", async () => {
    const { transform, ends, asked } = set([overloaded, { content: [] }, "S."]);
    await transform(task(20));
    assert.equal(asked.length, 3);
    assert.equal(ends[0]?.outcome, "summarized");
  });

  it("drops the oldest turns so that the run goes on, and says so", async () => {
    const { transform, ends, asked } = set([overloaded, overloaded, overloaded]);
    const messages = task(20);
    const shown = await transform(messages);
    assert.equal(asked.length, 3);
    assert.deepEqual([ends[0]?.outcome, ends[0]?.error?.code], ["dropped", "overloaded"]);
    assert.match(texts(shown)[1] ?? "", /\(35 messages that came before this were left out\.\)/);
    assertAccepted(shown);
  });

  it("is retried only when necessary, and then covers what was dropped", async () => {
    const { transform, ends, asked } = set([refused, refused, "Goal: read all."]);
    for (let count = 20; count < 27; count++) await transform(task(count));
    assert.equal(asked.length, 1);
    await transform(task(32));
    await transform(task(45));
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ["dropped", "dropped", "summarized"],
    );
    const text = messageText(asked[2]?.messages[0] as Message);
    assert.ok(text.includes("Read all of it.") && text.includes('{"number":42}'));
    assert.equal(ends[2]?.summary, "Goal: read all.");
  });

  it("is given up after a minute", async () => {
    const later = {
      error: new BowlineError("rate_limited", "Later.", { retryable: true, retryAfterMs: 61_000 }),
    };
    const { transform, ends, asked } = set([later, "S."]);
    await transform(task(20));
    assert.deepEqual([asked.length, ends[0]?.outcome], [1, "dropped"]);
  });

  it("is retried with half of the messages when it does not fit itself", async () => {
    const tooLong = { error: new BowlineError("context_overflow", "Too long.") };
    const { transform, asked, ends } = set([tooLong, "S."]);
    await transform(task(60));
    const [first = 0, second = 0] = asked.map(({ messages }) => sumOf(messages));
    assert.ok(second < first * 0.7, `${second} of ${first}`);
    assert.equal(ends[0]?.outcome, "summarized");
  });

  it("is cut when the model writes too much", async () => {
    const { transform, ends } = set(["word ".repeat(20_000)]);
    await transform(task(20));
    assert.equal(ends[0]?.outcome, "summarized");
    assert.ok(estimateTokens(ends[0].summary) <= 375);
  });

  it("stops on an abort, which changes nothing and sends nothing more", async () => {
    const controller = new AbortController();
    const hangs: ScriptedStep = () => {
      controller.abort();
      return new Promise(() => {});
    };
    const { transform, asked, ends, compaction } = set([hangs, "S."]);
    await assert.rejects(transform(task(20), controller.signal), code("aborted"));
    assert.deepEqual([asked.length, ends[0]?.outcome, compaction.state], [1, "none", undefined]);
    await transform(task(20));
    assert.equal(ends[1]?.outcome, "summarized");
  });
});

describe("a compaction that frees nothing", () => {
  const long = user("word ".repeat(2000));
  const grown = (count: number): AgentMessage[] => [long, ...task(count).slice(1)];

  it("notifies the model once without a summary, and stops the run when 10 % more frees nothing either", async () => {
    const { transform, ends, asked } = set([]);
    const told = await transform(grown(0));
    assert.deepEqual(withoutNote(told), grown(0));
    assert.match(
      JSON.stringify(told.slice(-1)),
      /fills the context window.*Answer with what is known/,
    );
    for (const count of [1, 2]) assert.deepEqual(await transform(grown(count)), grown(count));
    assert.deepEqual(
      ends.map(({ outcome, freed }) => [outcome, freed]),
      [["none", 0]],
    );
    await assert.rejects(transform(grown(4)), code("no_progress"));
    assert.equal(ends.length, 2);
    assert.equal(asked.length, 0);
  });

  it("does not stop the run again until 10 % more was added", async () => {
    const { transform } = set([]);
    await transform(grown(0));
    await assert.rejects(transform(grown(4)), code("no_progress"));
    assert.deepEqual(await transform(grown(5)), grown(5));
    await assert.rejects(transform(grown(9)), code("no_progress"));
  });

  it("starts over after another compaction freed something", async () => {
    const { transform, ends } = set(["Goal: read."]);
    await transform(grown(0));
    await transform(task(30));
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ["none", "summarized"],
    );
    assert.equal((await transform(grown(0))).length, 2); // notified again, not stopped
  });

  it("can end the run", async () => {
    const onCompaction = (event: CompactionEvent): void => {
      if (event.type === "compaction_end" && event.freed === 0)
        throw new BowlineError("no_progress", "No room is left.");
    };
    const { transform } = set([], { onCompaction });
    await assert.rejects(transform([user("word ".repeat(2000))]), code("no_progress"));
  });
});

/** Removes the note that a compaction adds when it frees nothing. */
function withoutNote(shown: readonly AgentMessage[]): AgentMessage[] {
  return shown.filter(
    (message) => !JSON.stringify(message).includes("Note: the conversation fills"),
  );
}
