/** Creates the engine of one process: stores, agents, models and the listeners to events. */
import { randomUUID } from "node:crypto";
import { BowlineError, parseModelRef, type Clock, type Model, type StreamFn } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import type { Access } from "../access/access.ts";
import { findAgent, type AgentEntry, type KnownAgent } from "../agents/agent-entry.ts";
import { AgentMakers } from "../agents/agent-makers.ts";
import { Approvals } from "../approvals/approvals.ts";
import { Choices } from "../agents/choices.ts";
import type { Welcome } from "../protocol/frame.ts";
import { toFrameError } from "../protocol/gateway-error.ts";
import type { Backend } from "../../models/backend.ts";
import type { Host } from "../runs/host.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Listeners } from "./listeners.ts";
import type { DoorContext } from "./methods.ts";
import { createMemoryPending } from "../runs/pending.ts";
import { loadRules } from "../../policy/rules.ts";
import { isListed, type DoorOptions, type ListedAgents, type MadeAgents } from "./options.ts";
import { Runs } from "../runs/runs.ts";
import { events, methods } from "../protocol/schema.ts";
import { createSecretFilter } from "../../secrets.ts";
import { SessionChanges } from "../runs/session-changes.ts";
import { Sessions } from "../sessions/sessions.ts";

interface Ports {
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly listeners: Listeners;
}

/** What the methods and runs of one process share. */
export interface MethodContext extends Host, DoorContext {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
}

export async function createContext(options: DoorOptions, ports: Ports): Promise<MethodContext> {
  const { store = createMemoryStore(), workspacePath = process.cwd() } = options;
  const { secrets = [], version = "0", createId = randomUUID } = options;
  const { limits, clock, listeners } = ports;
  const { rules = await loadRules(), pending = createMemoryPending() } = options;
  const filter = createSecretFilter(secrets);
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
    publish: (...told) => listeners.publish(...told),
    sessionChanges: new SessionChanges(clock, (change) =>
      listeners.broadcast("sessions.changed", change),
    ),
  };
  const runs = new Runs(host);
  const sessions = new Sessions(host, runs);
  return {
    ...host,
    runs,
    sessions,
    version,
    startedAt: clock.now(),
    connections: () => listeners.size,
    open: () => runs.restore(),
    tick: () => runs.forgetEnded(),
    closing: () => host.sessionChanges.close(),
    close: () => runs.close(),
  };
}

type Answering = Pick<
  Host,
  "agents" | "makers" | "providers" | "backendFor" | "modelFor" | "tools" | "systemPrompt"
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

export async function createWelcome(
  context: DoorContext,
  connectionId: string,
  { scope, sessions }: Access,
): Promise<Welcome> {
  const { version } = context;
  const { maxFrameBytes, maxAuthFrameBytes, maxBufferedBytes, tickIntervalMs, ...limits } =
    context.limits;
  const { maxQueuedRuns, maxMessageLength, maxAttachments, maxAttachmentBytes } = limits;
  const agent = findAgent(await context.agents());
  let notice: string | undefined;
  const backend =
    agent &&
    (await context.backendFor(agent).catch((error: unknown) => {
      notice = context.filter.failure(toFrameError(error)).message;
      return undefined;
    }));
  notice ??= backend?.notice?.message;
  const isMade = agent !== undefined && backend === undefined && notice === undefined;
  const model = isMade ? await context.modelFor(agent) : backend?.model;
  return {
    type: "auth",
    ok: true,
    server: { name: "bowline", version, connectionId },
    scope,
    ...(sessions !== undefined && { sessions }),
    methods: Object.keys(methods),
    events: Object.keys(events),
    limits: {
      maxFrameBytes,
      maxAuthFrameBytes,
      maxBufferedBytes,
      tickIntervalMs,
      maxQueuedRuns,
      maxMessageLength,
      maxAttachments,
      maxAttachmentBytes,
    },
    model: {
      agentId: agent?.id ?? "",
      wanted: agent?.model ?? "",
      provider: model?.provider ?? "",
      model: model?.id ?? "",
      isPractice: backend?.isPractice ?? false,
    },
    ...(notice !== undefined && { notice }),
  };
}
