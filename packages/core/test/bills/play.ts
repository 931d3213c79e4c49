/** Runs a plan: an agent with its options, until all of its prompts are answered. */
import { createFailover } from "../../src/providers/failover.ts";
import {
  Agent,
  streamByProtocol,
  createAgentTool,
  createBudget,
  createCompaction,
} from "../../src/index.ts";
import { defineTool, type RunResult } from "../../src/agent/index.ts";
import type { AgentTool } from "../../src/agent/index.ts";
import type { AgentOptions } from "../../src/agent/agent-options.ts";
import type { SharedBudget } from "../../src/agent/contract/budget.ts";
import type { Model } from "../../src/llm/model.ts";
import { addUsage, type Prices, type Usage } from "../../src/llm/usage.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  type AgentSession,
  type Store,
} from "../../src/session/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { createMockServer, type AnswerPlan, type Bill } from "./mock-server.ts";

export interface Plan {
  readonly wire: "chat" | "messages";
  readonly hasFailover: boolean;
  readonly retriesAfterOutput: boolean;
  readonly compaction: "none" | "plain" | "shared";
  readonly subAgent: "none" | "plain" | "shared";
  readonly budget: "none" | "plain" | "shared";
  readonly maxTurns: number;
  readonly maxCost: number;
  readonly forOutput: boolean;
  readonly prompts: number;
  readonly session: "none" | "kept" | "failing";
  /** The number of the session entry that cannot be written. */
  readonly failsAt: number;
  readonly answers: readonly AnswerPlan[];
}

/** The cost as each source reports it. */
export interface Told {
  readonly bill: Bill;
  /** The sum over the results of runs. */
  readonly usage: Usage;
  readonly budget: SharedBudget | undefined;
  /** The sum over the runs' records in the session, if nothing failed. */
  readonly session: Usage | undefined;
}

const prices: Record<string, Prices> = {
  "chat.test": { input: 1, output: 2, cacheRead: 0.1 },
  "messages.test": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 4 },
};

const models: Record<Plan["wire"], Model> = {
  chat: modelAt("chat", "openai-chat", "https://chat.test/v1"),
  messages: modelAt("messages", "anthropic-messages", "https://messages.test"),
};

function modelAt(id: string, api: string, baseUrl: string): Model {
  const cost = prices[`${id}.test`] as Prices;
  return { id, name: id, api, provider: id, baseUrl, reasoning: false, input: ["text"], cost };
}

export async function play(plan: Plan): Promise<Told> {
  const clock = new ManualClock();
  let working: Agent | undefined;
  const { fetch, bill } = createMockServer({
    answers: plan.answers,
    prices,
    onHang: () => working?.abort(),
  });
  const limits = { maxTurns: plan.maxTurns, maxCost: plan.maxCost };
  const shared = createBudget(limits);
  const budget = plan.budget === "plain" ? limits : plan.budget === "shared" ? shared : undefined;
  const common: AgentOptions = { clock, fetch, apiKey: "k", random: () => 0 };
  const create = (): Agent => (working = createAgent(plan, common, budget, shared));

  const playing = playRuns(plan, create, clock, { bill, shared });
  const progress = { isOver: false };
  const over = (): void => void (progress.isOver = true);
  playing.then(over, over);
  for (let steps = 0; steps < 1000 && !progress.isOver; steps++) await clock.advance(60_000);
  if (!progress.isOver) throw new Error("The run hangs.");
  return playing;
}

async function playRuns(
  plan: Plan,
  create: () => Agent,
  clock: ManualClock,
  { bill, shared }: { readonly bill: Bill; readonly shared: SharedBudget },
): Promise<Told> {
  const output = { type: "object", properties: { value: { type: "number" } }, required: ["value"] };
  const options = plan.forOutput ? { output } : {};
  const store =
    plan.session === "failing"
      ? failing(createMemoryStore({ clock }), plan.failsAt)
      : createMemoryStore({ clock });
  let agent = create();
  let kept: AgentSession | undefined;
  if (plan.session !== "none")
    kept = await attachSession(agent, await createSession(store, { id: "s", clock }));
  let usage: Usage = {};
  let recorded: Usage = {};
  let hasFailed = false;
  const note = async (run: RunResult | undefined, before: Usage = {}): Promise<void> => {
    if (run) usage = addUsage(usage, minus(run.usage, before));
    if (!kept) return;
    if (kept.failure) {
      hasFailed = true;
      await kept.session.close().catch(() => {});
      const session = await openSession(store, "s", { clock });
      agent = create();
      kept = await attachSession(agent, session);
      const { interrupted } = kept;
      await note(await kept.resume(options), interrupted?.usage);
    } else recorded = addUsage(recorded, (await kept.session.state()).run?.usage ?? {});
  };
  for (let prompt = 0; prompt < plan.prompts; prompt++)
    await note(await agent.prompt("Please.", options));
  return {
    bill,
    usage,
    budget: plan.budget === "shared" ? shared : undefined,
    session: plan.session === "none" || hasFailed ? undefined : recorded,
  };
}

function createAgent(
  plan: Plan,
  common: AgentOptions,
  budget: AgentOptions["budget"],
  shared: SharedBudget,
): Agent {
  const { hasFailover, retriesAfterOutput: retryAfterOutput, wire } = plan;
  const model = models[wire];
  const other = models[wire === "chat" ? "messages" : "chat"];
  const streamFn = hasFailover
    ? createFailover({ streamFn: streamByProtocol, models: [other] })
    : streamByProtocol;
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    execute: () => "word ".repeat(300),
  });
  const ask = createAgentTool({
    name: "ask",
    description: "Asks another.",
    createAgent: () =>
      new Agent({
        ...common,
        initialState: { model: other, tools: [look] },
        streamFn,
        retryAfterOutput,
        ...(plan.subAgent === "shared" && { budget: shared }),
      }),
  });
  const tools: AgentTool[] = plan.subAgent === "none" ? [look] : [look, ask];
  const compaction = createCompaction({
    contextWindow: 1500,
    reserveTokens: 300,
    keepRecentTokens: 100,
    maxSummaryTokens: 100,
    ...(plan.compaction === "shared" && { budget: shared }),
  });
  return new Agent({
    ...common,
    initialState: { model, tools },
    streamFn,
    retryAfterOutput,
    ...(budget && { budget }),
    ...(plan.compaction !== "none" && {
      transformContext: compaction.transformContext,
      streamFn: compaction.wrap(streamFn),
    }),
  });
}

/** A store in which appending this entry fails once. */
function failing(store: Store, failsAt: number): Store {
  let written = 0;
  return {
    ...store,
    create: async (...given) => {
      const writer = await store.create(...given);
      const append = writer.append.bind(writer);
      return Object.assign(writer, {
        append: async (entries: Parameters<typeof append>[0]) => {
          if (written++ === failsAt) throw new BowlineError("storage_failed", "The disk is full.");
          return append(entries);
        },
      });
    },
  };
}

function minus(all: Usage, before: Usage): Usage {
  return {
    totalTokens: (all.totalTokens ?? 0) - (before.totalTokens ?? 0),
    cost: { total: (all.cost?.total ?? 0) - (before.cost?.total ?? 0) },
  };
}
