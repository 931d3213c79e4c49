/** Creates the engine of one process: stores, agents, models and the listeners to events. */
import { BowlineError, parseModelRef, type Model, type StreamFn } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import type { AgentEntry, KnownAgent } from "../agents/agent-entry.ts";
import { AgentMakers } from "../agents/agent-makers.ts";
import { Approvals } from "../approvals/approvals.ts";
import { Choices } from "../agents/choices.ts";
import type { Backend } from "../../models/backend.ts";
import type { Host } from "../runs/host.ts";
import type { Engine } from "../engine/engine.ts";
import type { EnginePorts } from "../engine/engine-ports.ts";
import type { Listeners } from "./listeners.ts";
import { createMemoryPending } from "../runs/pending.ts";
import { loadRules } from "../../policy/rules.ts";
import { isListed, type DoorOptions, type ListedAgents, type MadeAgents } from "./options.ts";
import { Runs } from "../runs/runs.ts";
import { SessionChanges } from "../runs/session-changes.ts";
import { Sessions } from "../sessions/sessions.ts";

interface Ports extends Omit<EnginePorts, "clients"> {
  readonly clients: Listeners;
}

/** What the methods and runs of one process share. */
export interface MethodContext extends Host, Engine {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
}

export async function createContext(options: DoorOptions, ports: Ports): Promise<MethodContext> {
  const { store = createMemoryStore(), workspacePath = process.cwd() } = options;
  const { limits, clock, createId, filter, clients } = ports;
  const { rules = await loadRules(), pending = createMemoryPending() } = options;
  const host: Host = {
    store,
    pending,
    rules,
    isRuled: isListed(options) || options.rules !== undefined,
    filter,
    limits,
    clock,
    createId,
    workspacePath,
    ...answering(options),
    approvals: new Approvals(rules, filter, workspacePath),
    choices: new Choices(store),
    publish: (...told) => clients.publish(...told),
    sessionChanges: new SessionChanges(clock, (change) =>
      clients.broadcast("sessions.changed", change),
    ),
  };
  const runs = new Runs(host);
  const sessions = new Sessions(host, runs);
  return {
    ...host,
    runs,
    sessions,
    open: () => runs.restore(),
    tick: () => runs.forgetEnded(),
    closing: () => host.sessionChanges.close(),
    close: () => runs.close(),
  };
}

type Answering = Pick<
  Host,
  | "agents"
  | "makers"
  | "providers"
  | "backendFor"
  | "modelFor"
  | "tools"
  | "checkCall"
  | "systemPrompt"
>;

/** Returns the agents, and the model that answers for each. */
function answering(options: DoorOptions): Answering {
  return isListed(options) ? fromList(options) : fromMakers(options);
}

function fromMakers({ agents }: MadeAgents): Answering {
  const makers = new AgentMakers(agents);
  return {
    makers,
    providers: new Map(),
    agents: async () => makers.list(),
    backendFor: async () => undefined,
    modelFor: async ({ id }) => makers.modelOf(id),
    tools: () => [],
    checkCall: undefined,
    systemPrompt: async () => "",
  };
}

function fromList(options: ListedAgents): Answering {
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
    checkCall: options.checkCall,
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
