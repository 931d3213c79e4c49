/** The available agents, and the model that answers for each. */
import {
  BowlineError,
  parseModelRef,
  type AgentTool,
  type Model,
  type StreamFn,
} from "@bowline/core";
import type { Backend } from "../../models/backend.ts";
import type { AgentEntry, KnownAgent } from "./agent-entry.ts";
import { AgentMakers } from "./agent-makers.ts";
import {
  isListed,
  type AgentOptions,
  type ListedAgents,
  type MadeAgents,
} from "./agent-options.ts";

/** The agents of the options, and what their runs are made from. */
export interface ResolvedAgents {
  /**
   * The application's stream functions, by the provider in a model reference (the part before the
   * slash). They are tried before `backendFor`.
   */
  readonly providers: ReadonlyMap<string, StreamFn>;
  readonly agents: () => Promise<readonly KnownAgent[]>;
  /** The functions that make agents. Empty if agents are a list. */
  readonly makers: AgentMakers;
  /**
   * Returns the model of a listed agent. Returns undefined for an agent that a function makes.
   * Rejects with `invalid_argument` for a model that is not available.
   */
  readonly backendFor: (agent: KnownAgent) => Promise<Backend | undefined>;
  /**
   * Returns the model of an agent. Returns undefined for an agent that a function makes and has not
   * made yet. Rejects as {@link backendFor} does.
   */
  readonly modelFor: (agent: KnownAgent) => Promise<Model | undefined>;
  readonly tools: (sessionKey: string) => AgentTool[];
  readonly systemPrompt: (sessionKey: string) => Promise<string>;
}

/** Returns the agents, and the model that answers for each. */
export function resolveAgents(options: AgentOptions): ResolvedAgents {
  return isListed(options) ? fromList(options) : fromMakers(options);
}

function fromMakers({ agents }: MadeAgents): ResolvedAgents {
  const makers = new AgentMakers(agents);
  return {
    makers,
    providers: new Map(),
    agents: async () => makers.list(),
    backendFor: async () => undefined,
    modelFor: async ({ id }) => makers.modelOf(id),
    tools: () => [],
    systemPrompt: async () => "",
  };
}

function fromList(options: ListedAgents): ResolvedAgents {
  const { providers = new Map<string, StreamFn>(), tools = () => [], systemPrompt } = options;
  const backendFor = async ({ model = "", ...agent }: KnownAgent): Promise<Backend> =>
    ofProvider(model, providers) ?? options.backendFor({ ...agent, model });
  return {
    makers: new AgentMakers({}),
    providers,
    agents: async () => listOf(await options.agents()),
    backendFor,
    modelFor: async (agent) => (await backendFor(agent)).model,
    tools,
    systemPrompt: async (sessionKey) => systemPrompt(sessionKey),
  };
}

/** Throws `invalid_argument` if `agents` is not an array, such as a single agent. */
function listOf(agents: readonly AgentEntry[]): readonly AgentEntry[] {
  if (Array.isArray(agents)) return agents;
  throw new BowlineError(
    "invalid_argument",
    'With "backendFor" the option "agents" returns a list. A function that makes agents goes without it.',
  );
}

function ofProvider(
  reference: string,
  providers: ReadonlyMap<string, StreamFn>,
): Backend | undefined {
  const { provider, model: id } = parseModelRef(reference);
  const streamFn = providers.get(provider);
  if (streamFn === undefined) return undefined;
  const model: Model = {
    id,
    name: id,
    api: "provider",
    provider,
    baseUrl: "",
    reasoning: false,
    input: ["text"],
  };
  return { model, streamFn, isPractice: false };
}
