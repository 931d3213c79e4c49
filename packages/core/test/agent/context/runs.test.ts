/**
 * Long runs of a real agent in a small window: through the hook alone, and with the stream function
 * wrapped.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  agentLoop,
  defineTool,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  createBudget,
} from "../../../src/agent/index.ts";
import { createCompaction, type Compaction } from "../../../src/agent/context/compaction.ts";
import type { CompactionEvent } from "../../../src/agent/contract/compaction-event.ts";
import type { CompactionOptions } from "../../../src/agent/context/compaction-options.ts";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import { BowlineError } from "../../../src/errors.ts";
import { messageText, type Context } from "../../../src/llm/message.ts";
import type { StreamFn } from "../../../src/llm/model.ts";
import { streamOpenaiChat } from "../../../src/providers/openai-chat/index.ts";
import { createFailover } from "../../../src/providers/failover.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { createScriptedModel } from "../../../src/testing/index.ts";
import { chatText, failing, loopback } from "../../../../../test/support/loopback.ts";
import {
  asksForSummary,
  assertAccepted,
  sumOf,
  task,
  user,
  worker,
  type Worker,
  type WorkerOptions,
} from "./rig.ts";
import { code } from "../../../../../test/support/error-code.ts";
import { short } from "../../support.ts";

type End = Extract<CompactionEvent, { type: "compaction_end" }>;

/** The approximate size of a call's result, in tokens. */
const RESULT = 150;

const read = defineTool({
  name: "read",
  description: "Reads one.",
  parameters: { type: "object", properties: { number: { type: "number" } } },
  execute: ({ number }) => `${number}: `.padEnd(RESULT * 4, "word "),
});

interface Rig {
  readonly agent: Agent;
  readonly model: Worker;
  readonly compaction: Compaction;
  readonly ends: End[];
  readonly events: AgentEvent[];
}

/** An agent that reads for `turns` turns in a window of 4,000 tokens. */
function rig(
  turns: number,
  {
    work = {},
    compact = {},
    agent: agentOptions = {},
    wrapped = true,
    known = true,
  }: {
    work?: WorkerOptions;
    compact?: CompactionOptions;
    agent?: AgentOptions;
    wrapped?: boolean;
    /** Whether the model object states the window. */
    known?: boolean;
  } = {},
): Rig {
  const model = worker(turns, { window: 4000, ...work });
  const ends: End[] = [];
  const compaction = createCompaction({
    streamOptions: { random: () => 0 },
    ...(!wrapped && { model: model.model, streamFn: model.streamFn }),
    onCompaction: (event) => {
      if (event.type === "compaction_end") ends.push(event);
    },
    ...compact,
  });
  const agent = new Agent({
    initialState: {
      model: { ...model.model, ...(known && { contextWindow: 4000 }) },
      tools: [read],
      systemPrompt: "You read what you are told to. ".repeat(10),
    },
    streamFn: wrapped ? compaction.wrap(model.streamFn) : model.streamFn,
    transformContext: compaction.transformContext,
    budget: { maxTurns: Infinity },
    ...agentOptions,
  });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  return { agent, model, compaction, ends, events };
}

describe("a run of 200 turns in a window of 4,000 tokens", () => {
  const variants: [string, Parameters<typeof rig>[1]][] = [
    ["by the hook alone", { wrapped: false, compact: { contextWindow: 4000 } }],
    ["with the stream function wrapped", {}],
    ["with a server that reports no usage", { work: { reportsUsage: false } }],
    [
      "with summaries that fail",
      { work: { summarize: () => ({ error: new BowlineError("server_error", "No.") }) } },
    ],
    [
      "without a model for summaries",
      { wrapped: false, compact: { contextWindow: 4000, model: undefined } },
    ],
  ];
  for (const [name, variant] of variants) {
    it(`ends with reason "done" ${name}, at a bounded cost`, async () => {
      const { agent, model, ends } = rig(200, variant);
      const result = await agent.prompt("Read all of it.");
      assert.equal(result.reason, "done");
      assert.equal(agent.state.messages.length, 402);
      assert.equal(model.input.refused, 0);
      // Each turn adds some 165 tokens, and a compaction frees 1,200 or more.
      assert.ok(ends.length <= (200 * 165) / 1200, `${ends.length} compactions`);
      assert.ok(
        ends.every(({ freed }) => freed >= 1200),
        `${Math.min(...ends.map(({ freed }) => freed))} freed`,
      );
      // Without compaction the total would be 200 × 201 / 2 × 165.
      assert.ok(model.input.total < 700_000, `${model.input.total} tokens`);
      for (const { context } of model.calls) assertAccepted(context.messages);
      for (const { context } of model.calls.filter((call) => !asksForSummary(call.context))) {
        assert.equal(context.messages[0], agent.state.messages[0]);
      }
    });
  }

  it("estimates each message once", async () => {
    let estimated = 0;
    const count: typeof estimateTokens = (value) => (estimated++, estimateTokens(value));
    const { agent, ends } = rig(200, {
      work: { reportsUsage: false },
      compact: { estimateTokens: count },
    });
    await agent.prompt("Read all of it.");
    // And the summaries in place of older messages, a few times for each compaction.
    assert.ok(estimated < 402 + ends.length * 20, `${estimated} estimates`);
  });
});

describe("the wrapped stream function of a compaction", () => {
  it("asks for a summary as a continuation of the conversation, which the server has cached", async () => {
    const { agent, model } = rig(40);
    await agent.prompt("Read all of it.");
    const index = model.calls.findIndex(({ context }) => asksForSummary(context));
    const before = model.calls[index - 1]?.context as Context;
    const summary = model.calls[index]?.context as Context;
    assert.equal(summary.systemPrompt, before.systemPrompt);
    assert.deepEqual(summary.tools, before.tools);
    const shared = summary.messages.slice(0, -1);
    assert.deepEqual(shared, before.messages.slice(0, shared.length));
    assert.ok(sumOf(shared) > sumOf(before.messages) / 2);
  });

  it("asks again with plain text when the continuation calls a tool", async () => {
    const summarize: WorkerOptions["summarize"] = (context, nth) =>
      nth === 1
        ? { content: [{ type: "toolCall", id: "x", name: "read", arguments: {} }] }
        : `Said in ${context.messages.length}.`;
    const { agent, model, ends } = rig(20, { work: { summarize }, agent: { sessionId: "s" } });
    await agent.prompt("Read all of it.");
    assert.deepEqual([ends[0]?.outcome, ends[0]?.summary], ["summarized", "Said in 1."]);
    const [, asText] = model.calls.filter(({ context }) => asksForSummary(context));
    const { sessionId, cacheRetention, maxRetries } = asText?.options ?? {};
    assert.deepEqual(
      { sessionId, cacheRetention, maxRetries },
      { sessionId: undefined, cacheRetention: "none", maxRetries: 0 },
    );
    assert.equal(asText?.context.tools, undefined);
  });

  const inText: [string, Parameters<typeof rig>[1]][] = [
    ["when the continuation would not fit", { compact: { reserveTokens: 100 } }],
    ["when the conversation must call a tool", { agent: { toolChoice: "required" } }],
    ["by a separate model", { compact: { model: getModel("openai", "small") } }],
  ];
  for (const [name, variant] of inText) {
    it(`asks for a summary in text ${name}`, async () => {
      const { agent, model, ends } = rig(40, variant);
      await agent.prompt("Read all of it.");
      assert.equal(ends[0]?.outcome, "summarized");
      const summaries = model.calls.filter(({ context }) => asksForSummary(context));
      assert.deepEqual(
        new Set(summaries.map(({ context }) => context.messages.length)),
        new Set([1]),
      );
    });
  }

  it("summarises the messages it had to drop before as text", async () => {
    const summarize: WorkerOptions["summarize"] = (_, nth) =>
      nth > 2 ? "S." : { error: new BowlineError("server_error", "No.") };
    const { agent, model, ends } = rig(40, { work: { summarize } });
    await agent.prompt("Read all of it.");
    assert.deepEqual(
      ends.slice(0, 2).map(({ outcome }) => outcome),
      ["dropped", "summarized"],
    );
    const [, , third] = model.calls.filter(({ context }) => asksForSummary(context));
    assert.match(messageText(third?.context.messages[0] as never), /\[result of read\]\n1: word/);
  });

  it("compacts a request that the server refuses, retries once, and remembers the limit", async () => {
    const { agent, model, ends, events } = rig(100, { known: false });
    const { reason } = await agent.prompt("Read all of it.");
    assert.equal(reason, "done");
    assert.deepEqual([ends[0]?.reason, ends[1]?.reason], ["overflow", "limit"]);
    assert.equal(model.input.refused, 1);
    const at = model.calls.findIndex(({ context }) => asksForSummary(context));
    const [tooLong = 0, , again = 0] = model.calls
      .slice(at - 1)
      .map(({ context }) => sumOf(context.messages));
    assert.ok(again < tooLong * 0.35, `${again} of ${tooLong}`);
    const later = model.calls.slice(at + 2).filter(({ context }) => !asksForSummary(context));
    const largest = Math.max(...later.map(({ context }) => sumOf(context.messages)));
    assert.ok(largest < tooLong * 0.9, `${largest} after ${tooLong} was refused`);
    assert.equal(model.calls[at]?.context.messages.length, 1, "what was too long is not continued");
    const retries = events.filter(({ type }) => type === "request_retry");
    assert.deepEqual(
      retries.map((event) => event.type === "request_retry" && event.error.code),
      ["context_overflow"],
    );
    const retry = events.findIndex(({ type }) => type === "request_retry");
    assert.deepEqual(events.slice(retry - 3, retry + 2).map(short), [
      "turn_start",
      "compaction_start",
      "compaction_end",
      "request_retry",
      "message_start:assistant",
    ]);
  });

  it("emits events for its work, and counts its cost in the run's usage and budget", async () => {
    const budget = createBudget();
    const { agent, model, events, ends } = rig(60, { agent: { budget } });
    const { usage } = await agent.prompt("Read all of it.");
    const told = events.filter((event) => event.type === "compaction_end");
    assert.ok(told.length > 0);
    assert.deepEqual(
      told.map(({ runId: _runId, seq: _seq, ...event }) => event),
      ends,
    );
    const answers = agent.state.messages.filter((message) => message.role === "assistant");
    const inMessages = answers.reduce((sum, message) => sum + (message.usage.input ?? 0), 0);
    assert.ok((usage.input ?? 0) > inMessages);
    assert.equal(usage.input, model.input.total);
    assert.ok(budget.used.tokens >= model.input.total);
  });

  it("counts its calls in the compaction's own budget too, and only once where both are the same", async () => {
    const own = createBudget();
    const shared = createBudget();
    for (const budget of [own, shared]) {
      const { agent, ends } = rig(60, { agent: { budget: shared }, compact: { budget } });
      const before = shared.used.tokens;
      const { usage } = await agent.prompt("Read all of it.");
      assert.equal(shared.used.tokens - before, usage.totalTokens);
      const summaries = ends.reduce((sum, end) => sum + (end.usage.totalTokens ?? 0), 0);
      if (budget === own) assert.deepEqual([own.used.tokens, summaries > 0], [summaries, true]);
    }
  });

  it("counts a request that was too long, even if the run is aborted before the retry", async () => {
    let isFirst = true;
    const summarize = (): never => {
      agent.abort();
      throw new BowlineError("aborted", "Aborted.");
    };
    const { agent, compaction, model } = rig(100, { known: false, work: { summarize } });
    agent.streamFn = compaction.wrap((asked, context, options) => {
      if (asksForSummary(context) || context.messages.length < 20 || !isFirst)
        return model.streamFn(asked, context, options);
      isFirst = false;
      const usage = { input: 7_000_000, output: 0 };
      const tooLong = createScriptedModel([{ content: [], stopReason: "length", usage }]);
      return tooLong.streamFn(asked, context, options);
    });
    const { reason, usage } = await agent.prompt("Read all of it.");
    assert.deepEqual([reason, isFirst], ["aborted", false]);
    assert.ok((usage.input ?? 0) > 7_000_000);
  });

  it("compacts a restored conversation before its first request", async () => {
    const messages = task(40);
    const { agent, model, ends } = rig(0, { compact: { contextWindow: 4000 } });
    agent.state.messages = messages;
    const { reason } = await agent.prompt("Go on.");
    assert.equal(reason, "done");
    assert.deepEqual([model.input.refused, ends[0]?.outcome], [0, "summarized"]);
    assert.equal(messageText(agent.state.messages.at(-1) as never), "All read.");
  });

  it("returns the server's error when there is nothing to shorten", async () => {
    const { agent, model, ends } = rig(1, { known: false });
    const result = await agent.prompt("word ".repeat(4000));
    assert.equal(result.error?.code, "context_overflow");
    assert.deepEqual(
      [model.input.refused, ends.map(({ outcome, freed }) => [outcome, freed])],
      [1, [["none", 0]]],
    );
  });

  it("returns the second error when half is too long as well", async () => {
    const { agent, model } = rig(1, { known: false, work: { window: 100 } });
    agent.state.messages = task(20);
    const result = await agent.prompt("Go on.");
    assert.equal(result.error?.code, "context_overflow");
    // The request, three attempts at a summary, and the request again.
    assert.equal(model.input.refused, 5);
  });

  it('treats an empty answer with stop reason "length" as an overflow', async () => {
    const { model, streamFn, calls } = createScriptedModel([
      { stopReason: "length" },
      "S.",
      "Done.",
    ]);
    const compaction = createCompaction();
    const agent = new Agent({
      initialState: { model, messages: task(20) },
      streamFn: compaction.wrap(streamFn),
      transformContext: compaction.transformContext,
    });
    const { message } = await agent.prompt("Go on.");
    assert.equal(messageText(message as never), "Done.");
    assert.equal(calls.length, 3);
  });

  it("aborts a summary with the run, and sends nothing after it", async () => {
    let abort = (): void => {};
    const summarize = (): Promise<string> => {
      abort();
      return new Promise(() => {});
    };
    const { agent, model, compaction } = rig(40, { work: { summarize } });
    abort = () => agent.abort();
    const { reason } = await agent.prompt("Read all of it.");
    assert.equal(reason, "aborted");
    assert.ok(asksForSummary(model.calls.at(-1)?.context as Context));
    assert.deepEqual([model.input.summaries, compaction.state], [1, undefined]);
  });

  it("can compact after an aborted run", async () => {
    const { agent, compaction, ends } = rig(40);
    agent.subscribe(
      ({ type }) =>
        void (type === "turn_end" && agent.state.messages.length === 17 && agent.abort()),
    );
    assert.equal((await agent.prompt("Read all of it.")).reason, "aborted");
    assert.equal(await compaction.compact(agent.state.messages), true);
    assert.equal(ends[0]?.outcome, "summarized");
  });

  it("keeps the partial answer of a stream that broke its contract", async () => {
    const compaction = createCompaction();
    const streamFn: StreamFn = async function* broken({ api, provider, id }) {
      yield { type: "start", attempt: 1, api, provider, model: id, timestamp: 1 };
      yield { type: "text_start", attempt: 1, contentIndex: 0 };
      yield { type: "text_delta", attempt: 1, contentIndex: 0, delta: "Half of" };
    };
    const { model } = createScriptedModel([]);
    const agent = new Agent({
      initialState: { model },
      transformContext: compaction.transformContext,
      streamFn: compaction.wrap(streamFn),
    });
    const { message, error } = await agent.prompt("Hi");
    assert.deepEqual(
      [error?.code, message?.content],
      ["stream_truncated", [{ type: "text", text: "Half of" }]],
    );
  });

  it("does not retry an answer that had begun", async () => {
    const error = new BowlineError("context_overflow", "Too long.");
    const { model, streamFn, calls } = createScriptedModel([
      { content: [{ type: "text", text: "So" }], error },
    ]);
    const compaction = createCompaction();
    const agent = new Agent({
      initialState: { model, messages: task(20) },
      streamFn: compaction.wrap(streamFn),
      transformContext: compaction.transformContext,
    });
    assert.equal((await agent.prompt("Go on.")).error?.code, "context_overflow");
    assert.equal(calls.length, 1);
  });

  it("keeps what other hooks add to a request", async () => {
    const { model, streamFn, calls } = createScriptedModel(["Done."]);
    const compaction = createCompaction();
    const agent = new Agent({
      initialState: { model: { ...model, contextWindow: 100_000 }, messages: task(2) },
      streamFn: compaction.wrap(streamFn),
      transformContext: async (...args) => [
        ...(await compaction.transformContext(...args)),
        user("A note."),
      ],
    });
    await agent.prompt("Go on.");
    assert.equal(calls[0]?.context.messages.at(-1)?.content, "A note.");
  });

  it("forgets the limit of the previous model", async () => {
    const { agent, model, compaction, ends } = rig(30, { known: false });
    await agent.prompt("Read all of it.");
    assert.equal(model.input.refused, 1);
    const before = ends.length;
    const { streamFn } = createScriptedModel(["Hello.", "Yes."]);
    agent.reset();
    agent.streamFn = compaction.wrap(streamFn);
    agent.state.model = { ...agent.state.model, id: "large" };
    await agent.prompt("Hi");
    assert.equal((await agent.prompt("word ".repeat(6000))).reason, "done");
    assert.equal(ends.length, before);
  });

  it("reserves room for the agent's maxTokens, up to half of the window", async () => {
    for (const maxTokens of [2000, 100_000]) {
      const { agent, model, ends } = rig(40, { agent: { maxTokens } });
      await agent.prompt("Read all of it.");
      assert.ok(model.input.largest < 2000 + 200, `${model.input.largest} tokens`);
      assert.ok(ends.length < 12, `${ends.length} compactions`);
    }
  });

  it("reserves the same room for a loop without an agent", async () => {
    const { model, streamFn, input } = worker(60, { window: 4000 });
    const compaction = createCompaction();
    const config = {
      model: { ...model, contextWindow: 4000 },
      convertToLlm: (messages: AgentMessage[]) => messages,
      transformContext: compaction.transformContext,
    };
    const context = { systemPrompt: "", messages: [], tools: [read] };
    const stream = agentLoop(
      [user("Read all of it.")],
      context,
      config,
      undefined,
      compaction.wrap(streamFn),
    );
    assert.equal((await stream.result()).length, 122);
    assert.deepEqual([input.refused, input.summaries > 1], [0, true]);
  });

  it("ignores calls of other agents", async () => {
    const { agent, compaction } = rig(40);
    await agent.prompt("Read all of it.");
    const { state } = compaction;
    const error = new BowlineError("context_overflow", "Too long.");
    const { model, streamFn, calls } = createScriptedModel([{ error }]);
    const other = new Agent({ initialState: { model }, streamFn: compaction.wrap(streamFn) });
    assert.equal((await other.prompt("Hi")).error?.code, "context_overflow");
    assert.deepEqual([calls.length, calls[0]?.context.messages.length], [1, 1]);
    assert.equal(compaction.state, state);
  });

  it("works inside a failover, whose calls have other signals", async () => {
    const model = worker(60, { window: 4000 });
    const compaction = createCompaction();
    const streamFn = createFailover({ streamFn: compaction.wrap(model.streamFn), models: [] });
    const known = { ...model.model, contextWindow: 4000 };
    const agent = new Agent({
      initialState: { model: known, tools: [read] },
      streamFn,
      budget: { maxTurns: Infinity },
      transformContext: compaction.transformContext,
    });
    assert.equal((await agent.prompt("Read all of it.")).reason, "done");
    assert.equal(model.input.refused, 0);
    assert.ok(model.input.summaries > 1);
  });

  it("ends the run with the error of a compaction listener", async () => {
    const onCompaction = (): void => {
      throw new BowlineError("no_progress", "Enough.");
    };
    const { agent } = rig(40, { compact: { onCompaction } });
    const { error } = await agent.prompt("Read all of it.");
    assert.ok(code("no_progress")(error));
  });

  it("recovers from a real server's refusal over HTTP", async () => {
    const tooLong = {
      error: {
        message: "This model's maximum context length is 4096 tokens.",
        code: "context_length_exceeded",
      },
    };
    await using server = await loopback(
      failing(400, tooLong),
      chatText("Goal: read."),
      chatText("Done."),
    );
    const compaction = createCompaction();
    const agent = new Agent({
      initialState: {
        model: getModel("openai", "m", { baseUrl: server.baseUrl }),
        messages: task(20),
      },
      streamFn: compaction.wrap(streamOpenaiChat),
      transformContext: compaction.transformContext,
      apiKey: "sk-test",
    });
    const { reason, message } = await agent.prompt("Go on.");
    assert.deepEqual([reason, messageText(message as never)], ["done", "Done."]);
    const [first = 0, , last = 0] = server.requests.map(({ body }) => body.length);
    assert.ok(last < first / 2, `${last} of ${first} bytes`);
    assert.ok(server.requests.every(({ headers }) => headers.authorization === "Bearer sk-test"));
  });
});
