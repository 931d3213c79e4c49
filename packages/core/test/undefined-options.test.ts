/**
 * An option that is `undefined` counts as not given: the types accept it, also under
 * `exactOptionalPropertyTypes`, and every default stays the same.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  agentLoop,
  complete,
  createBudget,
  createCompaction,
  createFailover,
  createProgressGuard,
  createRecorder,
  dropImages,
  getModel,
  isLlmMessage,
  type AgentLoopConfig,
  type AgentOptions,
  type Budget,
  type CompactionOptions,
  type Context,
  type FailoverOptions,
  type Model,
  type ProgressGuardOptions,
  type PromptOptions,
  type PruneOptions,
  type RecorderOptions,
  type StreamOptions,
  type StreamTimeouts,
  type ThinkingBudgets,
} from "../src/index.ts";
import { createMemoryStore, createSession, type SessionOptions } from "../src/session/index.ts";
import {
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from "../src/testing/index.ts";
import { finalMessage } from "../../../test/support/final-message.ts";
import { failing, loopback } from "../../../test/support/loopback.ts";
import { call, hello, short, tool } from "./support.ts";

/** Every option of `T` as `undefined`: the compiler requires each option to be listed here. */
type Unset<T> = {
  [K in keyof T as Partial<Pick<T, K>> extends Pick<T, K> ? K : never]-?: undefined;
};

const forCalls: Unset<Omit<StreamOptions, "signal">> = {
  apiKey: undefined,
  cacheRetention: undefined,
  clock: undefined,
  createId: undefined,
  extraBody: undefined,
  fetch: undefined,
  headers: undefined,
  maxAnswerLength: undefined,
  maxEventLength: undefined,
  maxRetries: undefined,
  maxRetryDelayMs: undefined,
  maxRetryTimeMs: undefined,
  maxTokens: undefined,
  metadata: undefined,
  onPayload: undefined,
  onResponse: undefined,
  onWarning: undefined,
  output: undefined,
  random: undefined,
  reasoning: undefined,
  retryAfterOutput: undefined,
  sessionId: undefined,
  temperature: undefined,
  thinkingBudgets: undefined,
  timeouts: undefined,
  toolChoice: undefined,
};
const stream: Unset<StreamOptions> = { ...forCalls, signal: undefined };

const loop: Unset<AgentLoopConfig> = {
  ...forCalls,
  abortGraceMs: undefined,
  afterToolCall: undefined,
  beforeToolCall: undefined,
  budget: undefined,
  getApiKey: undefined,
  getFollowUpMessages: undefined,
  getSteeringMessages: undefined,
  hasSteeringMessages: undefined,
  hookTimeoutMs: undefined,
  maxParallelTools: undefined,
  parentRunId: undefined,
  parentToolCallId: undefined,
  parentToolName: undefined,
  returnMessages: undefined,
  shouldStopAfterTurn: undefined,
  skipToolsOnSteering: undefined,
  toolContext: undefined,
  toolExecution: undefined,
  toolTimeoutMs: undefined,
  transformContext: undefined,
};

const {
  getFollowUpMessages: _followUp,
  getSteeringMessages: _steering,
  hasSteeringMessages: _hasSteering,
  output: _output,
  reasoning: _reasoning,
  returnMessages: _return,
  toolContext: _context,
  ...settings
} = loop;
const ofAgent: Unset<AgentOptions> = {
  ...settings,
  context: undefined,
  convertToLlm: undefined,
  effects: undefined,
  followUpMode: undefined,
  initialState: undefined,
  messages: undefined,
  model: undefined,
  steeringMode: undefined,
  streamFn: undefined,
  systemPrompt: undefined,
  thinkingLevel: undefined,
  tools: undefined,
};

const limits: Unset<Budget> = {
  maxCost: undefined,
  maxTimeMs: undefined,
  maxTokens: undefined,
  maxTurns: undefined,
};

const compaction: Unset<CompactionOptions> = {
  budget: undefined,
  contextWindow: undefined,
  convertToLlm: undefined,
  estimateTokens: undefined,
  getApiKey: undefined,
  keepRecentTokens: undefined,
  maxSummaryTokens: undefined,
  minFreedShare: undefined,
  model: undefined,
  onCompaction: undefined,
  prompt: undefined,
  reserveTokens: undefined,
  state: undefined,
  streamFn: undefined,
  streamOptions: undefined,
};

const timeouts: Unset<StreamTimeouts> = {
  firstByteMs: undefined,
  idleMs: undefined,
  progressMs: undefined,
  totalMs: undefined,
};
const budgets: Unset<ThinkingBudgets> = {
  minimal: undefined,
  low: undefined,
  medium: undefined,
  high: undefined,
  xhigh: undefined,
  max: undefined,
};

/** The result of an agent with these options for the same script. */
async function outcome(options: AgentOptions): Promise<unknown> {
  const steps: ScriptedStep[] = [call("a"), "Done."];
  const scripted: Unset<ScriptedModelOptions> = { delayMs: undefined, deltaLength: undefined };
  const { model, streamFn, calls } = createScriptedModel(steps, scripted);
  const agent = new Agent({ ...options, model, streamFn, tools: [tool("a", () => "1")] });
  const events: string[] = [];
  agent.subscribe((event) => void events.push(short(event)));
  const unset: Unset<PromptOptions> = { images: undefined, files: undefined, output: undefined };
  const { reason, text } = await agent.prompt("Hi", unset);
  const ofCalls = Object.keys(forCalls) as (keyof typeof forCalls)[];
  const asked = calls.map((one) => ofCalls.map((name) => one.options[name]));
  return [reason, text, events, asked];
}

describe("options that are undefined", () => {
  it("do not change an agent's run", async () => {
    const expected = await outcome({});
    assert.deepEqual(await outcome(ofAgent), expected);
    const effects = { step: undefined, recorded: undefined, waitFor: undefined };
    assert.deepEqual(await outcome({ ...ofAgent, effects, budget: limits }), expected);
    const shared = createBudget(limits, undefined);
    assert.deepEqual(await outcome({ ...ofAgent, budget: shared }), expected);
    assert.equal(shared.used.turns, 2);
  });

  it("do not change the loop's run", async () => {
    const { model, streamFn } = createScriptedModel([call("a"), "Done."]);
    const convertToLlm: AgentLoopConfig["convertToLlm"] = (messages) =>
      messages.filter(isLlmMessage);
    const context = { systemPrompt: "", messages: [], tools: undefined };
    const config = { ...loop, model, convertToLlm };
    const run = agentLoop([hello], context, config, undefined, streamFn);
    assert.deepEqual(
      (await run.result()).map(({ role }) => role),
      ["user", "assistant", "toolResult", "assistant"],
    );
  });

  for (const api of [
    "openai-chat",
    "anthropic-messages",
    "openai-responses",
    "google-generate",
  ] as const)
    it(`do not change a request over ${api}`, async () => {
      const refused = failing(400, {});
      await using server = await loopback(refused, refused);
      const fields: Unset<Omit<Model, "id" | "provider" | "name" | "reasoning" | "input">> = {
        compat: undefined,
        contextWindow: undefined,
        cost: undefined,
        headers: undefined,
        maxTokens: undefined,
      };
      const where = { api, baseUrl: server.baseUrl };
      const context: Unset<Context> = { systemPrompt: undefined, tools: undefined };
      const messages = [hello];
      await finalMessage(complete(getModel("custom", "m", where), { messages }));
      await finalMessage(
        complete(
          getModel("custom", "m", { ...fields, name: undefined, input: undefined, ...where }),
          { ...context, messages },
          { ...stream, timeouts, thinkingBudgets: budgets },
        ),
      );
      const [plain, unset] = server.requests;
      assert.deepEqual([unset?.url, unset?.body], [plain?.url, plain?.body]);
      assert.deepEqual(unset?.headers, plain?.headers);
    });

  it("do not remove a summary's key and limits, in a compaction's streamOptions either", async () => {
    const long = "word ".repeat(2000);
    for (const options of [{}, compaction, { ...compaction, streamOptions: forCalls }]) {
      const script = createScriptedModel([long, long, long, "A summary.", "Done."]);
      const compacted = createCompaction({ ...options, contextWindow: 9000, keepRecentTokens: 10 });
      const agent = new Agent({
        model: script.model,
        apiKey: "k",
        maxEventLength: 1234,
        transformContext: compacted.transformContext,
        streamFn: compacted.wrap(script.streamFn),
      });
      for (const text of ["One", "Two", "Three", "Four"]) await agent.prompt(text);
      const summary = script.calls.find(({ options: asked }) => asked.cacheRetention === "none");
      assert.deepEqual([summary?.options.apiKey, summary?.options.maxEventLength], ["k", 1234]);
    }
  });

  it("are accepted by every other function with options", async () => {
    const guard: Unset<ProgressGuardOptions> = {
      maxPeriod: undefined,
      now: undefined,
      stopAfter: undefined,
      warnAfter: undefined,
    };
    assert.deepEqual(createProgressGuard(guard)([hello]), [hello]);
    const prune: Unset<PruneOptions> = { batch: undefined, keep: undefined };
    assert.deepEqual(dropImages([hello], prune), [hello]);
    const session: Unset<SessionOptions> = { clock: undefined, createId: undefined };
    const names = { ...session, id: undefined, metadata: undefined };
    const opened = await createSession(createMemoryStore(), names);
    assert.match(opened.id, /./);
    await opened.close();
    const { model, streamFn } = createScriptedModel(["Hi."]);
    const failover: Unset<FailoverOptions> = { getApiKey: undefined, kinds: undefined };
    const ask = createFailover({ ...failover, streamFn, models: [] });
    assert.equal((await ask(model, { messages: [hello] }, stream).result()).stopReason, "stop");
    const recorder: Unset<RecorderOptions> = {
      fetch: undefined,
      normalize: undefined,
      recording: undefined,
      redact: undefined,
    };
    assert.deepEqual(createRecorder({ ...recorder, mode: "record" }).recording.exchanges, []);
  });
});
