/** What `createGateway` and `startGateway` take. Unknown names are refused, not ignored. */
import { BowlineError, type AgentTool, type Clock, type StreamFn } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { Store } from "@bowline/core/session";
import type { EntryOptions } from "../access/access.ts";
import type { AgentEntry } from "../agents/agent-entry.ts";
import type { CreateAgent } from "../agents/agent-makers.ts";
import type { Backend } from "../../models/backend.ts";
import { defaultLimits, type GatewayLimits } from "../protocol/limits.ts";
import type { Pending } from "../runs/pending.ts";
import type { Rules } from "../../policy/rules.ts";

/** Options with either kind of agents. */
interface SharedOptions extends EntryOptions {
  /** Keeps the sessions. Default: this process's memory. */
  readonly store?: Store;
  /** Where tools work, as approvals show it. Default: the current folder. */
  readonly workspacePath?: string;
  /**
   * What may run without a question. Default for a list of agents: reading is allowed, the rest is
   * asked about. Default for agents that a function makes: none, so that a call waits for a person
   * when its tool's `needsApproval` or the agent's `beforeToolCall` says so. With rules given, calls
   * that no rule names are asked about.
   */
  readonly rules?: Rules;
  /**
   * Where accepted messages are kept until they are done. Default: this process's memory, so that
   * nothing that runs is gone on with after a restart, whatever the store.
   */
  readonly pending?: Pending;
  /** Never sent to a client. Those of 8 characters or more are found. */
  readonly secrets?: readonly string[];
  /** The version that clients are told. Default `0`. */
  readonly version?: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Of runs, sessions and connections. Default: random UUIDs. */
  readonly createId?: () => string;
  /**
   * Whether other machines may be let in, on loopback by a proxy on this one, and under whatever
   * name. Default false.
   */
  readonly exposed?: boolean;
  /** Default: those of `defaultLimits`, each by itself. */
  readonly limits?: Partial<GatewayLimits>;
  /** Answers what is no address of the gateway's own: a page, such as that of `createPage()`. */
  readonly page?: (request: Request) => Response | Promise<Response>;
}

/** Agents that functions of the application make, one for each run. */
export interface MadeAgents {
  /**
   * Makes the agent of each run. A record has a function for each agent id; a single function makes
   * the agent `assistant`.
   */
  readonly agents: CreateAgent | Readonly<Record<string, CreateAgent>>;
  /** The agent has its own model, tools and prompt. */
  readonly backendFor?: undefined;
  readonly providers?: undefined;
  readonly systemPrompt?: undefined;
  readonly tools?: undefined;
}

/** A list of agents with their models. The gateway makes the agent of each run from it. */
export interface ListedAgents {
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
}

export type DoorOptions = SharedOptions & (MadeAgents | ListedAgents);

const ofList = { backendFor: true, providers: true, systemPrompt: true, tools: true } as const;

const names: Readonly<Record<keyof DoorOptions, true>> = {
  ...ofList,
  agents: true,
  authorize: true,
  clock: true,
  createId: true,
  exposed: true,
  limits: true,
  page: true,
  pending: true,
  rules: true,
  secrets: true,
  store: true,
  token: true,
  tokens: true,
  trustProxy: true,
  version: true,
  workspacePath: true,
};

/**
 * Whether `agents` reads a list. Such a function has no parameters. A function that makes agents may
 * have none either, so `backendFor` decides.
 */
export function isListed(options: DoorOptions): options is SharedOptions & ListedAgents {
  const { agents, backendFor } = options;
  return typeof agents === "function" && agents.length === 0 && backendFor !== undefined;
}

/**
 * Throws `invalid_argument` for an unknown option or limit, and for an option of a list of agents
 * beside functions that make agents. `more` are further known option names.
 */
export function checkOptions(options: DoorOptions, more: readonly string[]): void {
  checkNames(options, [...Object.keys(names), ...more]);
  checkNames(options.limits ?? {}, Object.keys(defaultLimits), "limit");
  if (isListed(options)) return;
  const { agents } = options;
  const makers = typeof agents === "function" ? [agents] : Object.values(agents ?? {});
  if (makers.length === 0 || makers.some((maker) => typeof maker !== "function"))
    throw new BowlineError(
      "invalid_argument",
      'Option "agents" takes a function that makes an agent, or a record of such functions.',
    );
  const refused = Object.keys(ofList).find(
    (name) => options[name as keyof typeof ofList] !== undefined,
  );
  if (refused !== undefined)
    throw new BowlineError(
      "invalid_argument",
      `"${refused}" goes with agents that are a list, and these are made by a function. Give the agent its model, tools and prompt there, or give a list and backendFor.`,
    );
}
