/**
 * Puts together what methods work with: where things are kept, who answers, and who is told of
 * events.
 */
import { randomUUID } from "node:crypto";
import {
  parseModelRef,
  type AgentTool,
  type Clock,
  type Model,
  type StreamFn,
} from "@bowline/core";
import type { Store } from "@bowline/core/session";
import type { Access } from "../access/access.ts";
import { findAgent, type AgentEntry } from "../agents/agent-entry.ts";
import { Approvals } from "../approvals/approvals.ts";
import { Choices } from "../agents/choices.ts";
import type { Welcome } from "../protocol/frame.ts";
import { toFrameError } from "../protocol/gateway-error.ts";
import type { Backend } from "../../models/backend.ts";
import type { Host } from "../runs/host.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Listeners } from "./listeners.ts";
import type { MethodContext } from "./methods.ts";
import { createMemoryPending, type Pending } from "../runs/pending.ts";
import { loadRules, type Rules } from "../../policy/rules.ts";
import { Runs } from "../runs/runs.ts";
import { events, methods } from "../protocol/schema.ts";
import { createSecretFilter } from "../../secrets.ts";
import { SessionChanges } from "../runs/session-changes.ts";
import { Sessions } from "../sessions/sessions.ts";

export interface ContextOptions {
  readonly store: Store;
  /** The agents that can be asked. Read anew for each request. */
  readonly agents: () => Promise<readonly AgentEntry[]> | readonly AgentEntry[];
  /** What answers for an agent. Rejects with `invalid_argument` when nothing can. */
  readonly backendFor: (agent: AgentEntry) => Promise<Backend> | Backend;
  /**
   * Stream functions of the application's own, by the provider in a model reference (the part
   * before the slash). They are tried before `backendFor`.
   */
  readonly providers?: ReadonlyMap<string, StreamFn>;
  /** Read anew for each run, of the session that has this key. */
  readonly systemPrompt: (sessionKey: string) => Promise<string> | string;
  /** Made for each run, of the session that has this key. Default none. */
  readonly tools?: (sessionKey: string) => AgentTool[];
  /** Where tools work, as approvals show it. */
  readonly workspacePath: string;
  /** Default: reading is allowed, the rest is asked about. */
  readonly rules?: Rules;
  /**
   * Where accepted messages are kept until they are done. Default: this process's memory, so that
   * nothing that runs is gone on with after a restart, whatever the store.
   */
  readonly pending?: Pending;
  /** Never sent to a client. Those of 8 characters or more are found. */
  readonly secrets?: readonly string[];
  readonly version?: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Of runs, sessions and connections. Default: random UUIDs. */
  readonly createId?: () => string;
}

interface Ports {
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly listeners: Listeners;
}

export async function createContext(options: ContextOptions, ports: Ports): Promise<MethodContext> {
  const {
    store,
    workspacePath,
    tools = () => [],
    secrets = [],
    version = "0",
    createId = randomUUID,
  } = options;
  const { limits, clock, listeners } = ports;
  const { providers = new Map<string, StreamFn>() } = options;
  const { rules = await loadRules(), pending = createMemoryPending() } = options;
  const filter = createSecretFilter(secrets);
  const host: Host = {
    store,
    pending,
    rules,
    filter,
    limits,
    clock,
    createId,
    workspacePath,
    providers,
    tools,
    approvals: new Approvals(rules, filter, workspacePath),
    choices: new Choices(store),
    agents: async () => options.agents(),
    backendFor: async (agent) => ofProvider(agent, providers) ?? options.backendFor(agent),
    systemPrompt: async (sessionKey) => options.systemPrompt(sessionKey),
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
  };
}

function ofProvider(
  agent: AgentEntry,
  providers: ReadonlyMap<string, StreamFn>,
): Backend | undefined {
  const { provider, model: id } = parseModelRef(agent.model);
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
  context: MethodContext,
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
      provider: backend?.model.provider ?? "",
      model: backend?.model.id ?? "",
      isPractice: backend?.isPractice ?? false,
    },
    ...(notice !== undefined && { notice }),
  };
}
