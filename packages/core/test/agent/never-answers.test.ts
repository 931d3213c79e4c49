/**
 * If any callback of a run never settles, an abort ends the run within the grace period, with a
 * valid transcript.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  agentLoop,
  createAgentTool,
  createCompaction,
  createOutputRun,
  requireApproval,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
  type Effects,
  type ToolOutcome,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { toolCallsOf } from "../../src/llm/message.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  type Store,
} from "../../src/session/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { task } from "./context/rig.ts";
import { call, hello, rig, tool } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";

const GRACE_MS = 200;

/** Records the call and never settles. */
type Hang = () => Promise<never>;

/** The differences from an agent that calls `a` and then answers. */
interface Case {
  readonly options?: AgentOptions;
  readonly steps?: readonly ScriptedStep[];
  readonly tools?: readonly AgentTool[];
  readonly messages?: readonly AgentMessage[];
  readonly output?: unknown;
  readonly prepare?: (agent: Agent) => unknown;
  /** Listeners have a separate grace period. */
  readonly isListener?: true;
  /** The expected outcome of the call. */
  readonly outcome?: ToolOutcome;
}

type MakeCase = (hang: Hang, clock: ManualClock) => Case;

const plain = tool("a", () => "A");
const local: Pick<Effects, "step" | "waitFor"> = {
  step: (_name, fn) => fn(),
  waitFor: () => Promise.reject(new Error("nobody")),
};
const schemaOf = (validate: Hang): object => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate,
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
});
const refused: ScriptedStep = {
  error: new BowlineError("authentication_failed", "No such key.", { status: 401 }),
};

/** A stream that emits its answer, and whose return() never settles. */
function holding(hang: Hang, answer: ScriptedStep = "Done.", inBatches = true): StreamFn {
  const { streamFn } = createScriptedModel([answer]);
  return async (...asked) => {
    const events = await streamFn(...asked);
    const held = <T>(stream: AsyncIterable<T>): AsyncIterable<T> => ({
      [Symbol.asyncIterator]: () => {
        const from = stream[Symbol.asyncIterator]();
        return { next: () => from.next(), return: hang };
      },
    });
    const batches = events.batches?.();
    return inBatches && batches ? { ...held(events), batches: () => held(batches) } : held(events);
  };
}

function nested(options: AgentOptions): Case {
  const createAgent = (): Agent => {
    const { model, streamFn } = createScriptedModel(["Helped."]);
    return new Agent({ initialState: { model }, streamFn, ...options });
  };
  return {
    steps: [{ content: [scriptedToolCall("help", { prompt: "Go" }, "1")] }],
    tools: [createAgentTool({ name: "help", description: "Helps.", createAgent })],
    outcome: "stopped",
  };
}

function compacted(options: Parameters<typeof createCompaction>[0] = {}): Case {
  const { model, streamFn } = createScriptedModel(["A summary.", "Another."]);
  const limits = { contextWindow: 2000, keepRecentTokens: 300, maxSummaryTokens: 64 };
  const { transformContext } = createCompaction({ ...limits, model, streamFn, ...options });
  return { messages: task(12, 1200), options: { transformContext } };
}

/** A store whose appends hang from the `nth` entry on. */
function dying(hang: Hang, nth: number): Store {
  const store = createMemoryStore();
  let count = 0;
  return {
    ...store,
    async create(...asked) {
      const writer = await store.create(...asked);
      const append: typeof writer.append = (entries) =>
        count++ < nth ? writer.append(entries) : hang();
      return Object.create(writer, { append: { value: append } }) as typeof writer;
    },
  };
}

const hooks: Record<string, MakeCase> = {
  transformContext: (transformContext) => ({ options: { transformContext } }),
  convertToLlm: (convertToLlm) => ({ options: { convertToLlm } }),
  getApiKey: (getApiKey) => ({ options: { getApiKey } }),
  "getApiKey, when the key was refused": (hang) => {
    const keys = ["old"];
    return { steps: [refused], options: { getApiKey: () => keys.pop() ?? hang() } };
  },
  beforeToolCall: (beforeToolCall) => ({ options: { beforeToolCall }, outcome: "not_started" }),
  afterToolCall: (afterToolCall) => ({ options: { afterToolCall }, outcome: "finished" }),
  shouldStopAfterTurn: (shouldStopAfterTurn) => ({
    options: { shouldStopAfterTurn },
    outcome: "finished",
  }),
  "whether an approval is needed": (needed) => ({
    options: { beforeToolCall: requireApproval({ needed }) },
    outcome: "not_started",
  }),
  "an approval": (waitFor) => ({
    options: { beforeToolCall: requireApproval(), effects: { waitFor } },
    outcome: "not_started",
  }),
};

const models: Record<string, MakeCase> = {
  "a stream function": (streamFn) => ({ options: { streamFn } }),
  "a stream": (hang) => ({
    options: {
      async *streamFn() {
        yield await hang();
      },
    },
  }),
  "the end of a stream": (hang) => ({ options: { streamFn: holding(hang, "Done.", false) } }),
  "the end of a stream in batches": (hang) => ({ options: { streamFn: holding(hang) } }),
  "the model of an agent that is a tool": (streamFn, clock) => nested({ streamFn, clock }),
  "a hook of an agent that is a tool": (transformContext, clock) =>
    nested({ transformContext, clock }),
  "an agent that is a tool, in its steps": (step, clock) => nested({ effects: { step }, clock }),
};

const tools: Record<string, MakeCase> = {
  "a tool": (hang) => ({ tools: [tool("a", hang)], outcome: "left_running" }),
  "a tool, one at a time": (hang) => ({
    tools: [tool("a", hang, { executionMode: "sequential" })],
    outcome: "left_running",
  }),
  "a tool, with steps that are recorded late": (hang) => ({
    tools: [tool("a", hang)],
    options: { effects: { step: (_name, fn) => Promise.resolve().then(fn) } },
    outcome: "left_running",
  }),
  "a tool's schema": (hang) => ({
    tools: [{ ...plain, parameters: schemaOf(hang) }],
    outcome: "not_started",
  }),
  "the check of an output": (hang) => ({ steps: ['{"n":1}'], output: schemaOf(hang) }),
  "the check of a last output": (hang) => ({
    steps: ['{"n":1}'],
    output: schemaOf(hang),
    options: { budget: { maxTurns: 1 } },
  }),
};

const steps: Record<string, MakeCase> = {
  "a model step that does not begin": (step) => ({ options: { effects: { step } } }),
  "a model step that is not recorded": (hang) => ({
    options: { effects: { step: (_name, fn) => fn().then(hang) } },
    outcome: "not_started",
  }),
  "a tool step that does not begin": (hang) => ({
    options: { effects: { step: (_name, fn, { kind }) => (kind === "tool" ? hang() : fn()) } },
    outcome: "not_started",
  }),
  "a tool step that is not recorded": (hang) => ({
    options: {
      effects: { step: (_name, fn, { kind }) => (kind === "tool" ? fn().then(hang) : fn()) },
    },
    outcome: "finished",
  }),
  "the record of a tool": (recorded) => ({
    options: { effects: { ...local, recorded } },
    outcome: "unknown",
  }),
};

const compactions: Record<string, MakeCase> = {
  "the model that summarises": (streamFn) => compacted({ streamFn }),
  "the end of a summary": (hang) => compacted({ streamFn: holding(hang, "A summary.") }),
  "the key of the model that summarises": (getApiKey) => compacted({ getApiKey }),
  "convertToLlm, for a summary": (convertToLlm) => compacted({ convertToLlm }),
  onCompaction: (onCompaction) => compacted({ onCompaction }),
};

const kinds: readonly AgentEvent["type"][] = [
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "turn_end",
  "agent_end",
  "approval_request",
  "approval_answer",
  "compaction_start",
  "compaction_end",
];
const listeners: Record<string, MakeCase> = Object.fromEntries(
  kinds.map((kind) => [
    `a listener of ${kind}`,
    (hang): Case => {
      const { options, messages = [] } = compacted();
      return {
        messages,
        options: { ...options, beforeToolCall: requireApproval() },
        tools: [{ ...plain, execute: (_id, _args, _signal, update) => (update?.({}), {}) }],
        prepare: (agent) =>
          agent.subscribe((event) => {
            if (event.type === "approval_request")
              agent.answer(event.approvalId, { decision: "allow" });
            return event.type === kind ? hang() : undefined;
          }),
        isListener: true,
      };
    },
  ]),
);

/** The number of entries of a run with one tool. */
const ENTRIES = 8;
const disks: Record<string, MakeCase> = Object.fromEntries(
  Array.from({ length: ENTRIES }, (_, nth) => [
    `a disk, from entry ${nth} on`,
    (hang): Case => ({
      prepare: async (agent) => attachSession(agent, await createSession(dying(hang, nth))),
      isListener: true,
    }),
  ]),
);

/** The ids of calls without a result, and of results without a call. */
function unpaired(messages: readonly AgentMessage[]): string[] {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? toolCallsOf(message) : [],
  );
  const results = messages.flatMap((message) =>
    message.role === "toolResult" ? [message.toolCallId] : [],
  );
  const ids = calls.map(({ id }) => id);
  return [
    ...ids.filter((id) => !results.includes(id)),
    ...results.filter((id) => !ids.includes(id)),
  ];
}

class OutputAgent extends Agent {
  static override readonly outputRun = createOutputRun;
}

async function settles(makeCase: MakeCase): Promise<void> {
  let asked = 0;
  const clock = new ManualClock();
  const made = makeCase(() => {
    asked++;
    return new Promise(() => {});
  }, clock);
  const script = createScriptedModel(made.steps ?? [call("a"), "Done."], { deltaLength: 1000 });
  const model = { ...script.model, compat: { structuredOutput: "json_schema" as const } };
  const agent = new OutputAgent({
    initialState: {
      model,
      tools: [...(made.tools ?? [plain])],
      messages: [...(made.messages ?? [])],
    },
    streamFn: script.streamFn,
    clock,
    abortGraceMs: GRACE_MS,
    hookTimeoutMs: 0,
    ...made.options,
  });
  let ends = 0;
  agent.subscribe(
    ({ type, parentRunId }) => void (type === "agent_end" && parentRunId === undefined && ends++),
  );
  await made.prepare?.(agent);
  let isSettled = false;
  const { output } = made;
  const running = agent
    .prompt("Go", output === undefined ? {} : { output })
    .finally(() => (isSettled = true));
  await settle();
  await settle();
  assert.ok(asked > 0, "it was not asked");
  const calls = script.calls.length;
  agent.abort();
  await clock.advance(GRACE_MS - 1);
  await clock.advance(made.isListener ? GRACE_MS + 1 : 1);
  assert.ok(isSettled, "the run has not settled");
  const { tools: told } = await running;
  if (made.outcome !== undefined) assert.equal(told[0]?.outcome ?? "not_started", made.outcome);
  assert.deepEqual(unpaired(agent.state.messages), []);
  assert.deepEqual(
    [ends, script.calls.length, clock.pending, agent.state.isStreaming],
    [1, calls, 0, false],
    "ends, model calls, timers",
  );
}

describe("an abort settles after the grace period when this never settles:", () => {
  const all = { ...hooks, ...models, ...tools, ...steps, ...compactions, ...listeners, ...disks };
  for (const [what, makeCase] of Object.entries(all)) it(what, () => settles(makeCase));

  for (const queue of ["getSteeringMessages", "getFollowUpMessages"] as const)
    it(`${queue} of the low-level loop`, async () => {
      const clock = new ManualClock();
      const { model, streamFn } = createScriptedModel(["Done."]);
      const convertToLlm = (messages: AgentMessage[]): AgentMessage[] => messages;
      const abort = new AbortController();
      const config = {
        model,
        convertToLlm,
        clock,
        abortGraceMs: GRACE_MS,
        [queue]: () => new Promise<never>(() => {}),
      };
      const stream = agentLoop(
        [hello],
        { systemPrompt: "", messages: [] },
        config,
        abort.signal,
        streamFn,
      );
      const isDone = stream.result().then(() => true);
      await settle();
      abort.abort();
      await clock.advance(GRACE_MS);
      assert.ok(await Promise.race([isDone, settle().then(() => false)]));
    });
});

describe("a step that is recorded late", () => {
  it("runs no tool when the run was aborted meanwhile", async () => {
    const { promise, resolve } = deferred();
    let ran = 0;
    const effects: AgentOptions["effects"] = {
      step: async (_name, fn, { kind }) => (kind === "tool" ? promise.then(fn) : fn()),
    };
    const { agent } = rig([call("a")], [tool("a", () => `${ran++}`)], { effects });
    agent.subscribe(({ type }) => {
      if (type === "tool_execution_start") void settle().then(() => (agent.abort(), resolve()));
    });
    const { reason, tools: told } = await agent.prompt("Go");
    assert.deepEqual([reason, told[0]?.outcome, ran], ["aborted", "not_started", 0]);
  });

  it("runs no tool when its recorder resumes on the abort signal, because the run stopped first", async () => {
    let begin = (): void => {};
    let ran = 0;
    const { agent } = rig([call("a")], [tool("a", () => `${ran++}`)], {
      beforeToolCall: (_context, signal) => signal?.addEventListener("abort", () => begin()),
      effects: {
        step: (_name, fn, { kind }) =>
          kind === "model" ? fn() : new Promise((resolve) => (begin = () => resolve(fn()))),
      },
    });
    const run = agent.prompt("Go");
    await settle();
    agent.abort();
    const { reason, tools: told } = await run;
    assert.deepEqual([reason, told[0]?.outcome, ran], ["aborted", "not_started", 0]);
  });
});

describe("a stream whose iterator never returns", () => {
  const never = (): Promise<never> => new Promise(() => {});
  for (const [how, inBatches] of Object.entries({
    "one event at a time": false,
    "in batches": true,
  }))
    it(`completes an answer at its last event: ${how}`, async () => {
      const streams = [call("a"), "Done."].map((answer) => holding(never, answer, inBatches));
      const streamFn: StreamFn = (...asked) => (streams.shift() as StreamFn)(...asked);
      const { agent } = rig([], [plain], { streamFn, clock: new ManualClock() });
      const run = await Promise.race([agent.prompt("Go"), settle()]);
      assert.deepEqual([run?.reason, run?.turns], ["done", 2]);
    });

  it("completes a summary at its last event", async () => {
    const { options, messages = [] } = compacted({ streamFn: holding(never, "A summary.") });
    const { agent, events } = rig(["Done."], [], { ...options, clock: new ManualClock() });
    agent.state.messages = [...messages];
    const run = await Promise.race([agent.prompt("Go"), settle()]);
    assert.equal(run?.reason, "done");
    assert.ok(
      events.some((event) => event.type === "compaction_end" && event.outcome === "summarized"),
    );
  });
});

describe("a compaction that was aborted while it waited for a hook", () => {
  const hangs: Record<
    string,
    (once: <T>(value: T) => T | Promise<never>) => Parameters<typeof createCompaction>[0]
  > = {
    getApiKey: (once) => ({ getApiKey: () => once("key") }),
    convertToLlm: (once) => ({ convertToLlm: (messages) => once(messages) }),
    onCompaction: (once) => ({ onCompaction: () => once(undefined) }),
  };
  for (const [what, makeOptions] of Object.entries(hangs))
    it(`does not block the next: ${what}`, async () => {
      let isFirst = true;
      const { options, messages = [] } = compacted(
        makeOptions((value) => {
          const answer = isFirst ? new Promise<never>(() => {}) : value;
          isFirst = false;
          return answer;
        }),
      );
      const { agent, events } = rig(["Done."], [], { ...options, clock: new ManualClock() });
      agent.state.messages = [...messages];
      const first = agent.prompt("Go");
      await settle();
      agent.abort();
      assert.equal((await first).reason, "aborted");
      assert.equal((await agent.prompt("Again")).reason, "done");
      const outcomes = events.flatMap((event) =>
        event.type === "compaction_end" ? [event.outcome] : [],
      );
      assert.deepEqual(outcomes, ["none", "summarized"]);
    });
});
