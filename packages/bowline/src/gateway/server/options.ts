/** The options of `createGateway` and `startGateway`. Unknown names are refused, not ignored. */
import { BowlineError, type AgentTool, type Clock, type StreamFn } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { Store } from "@bowline/core/session";
import type { EntryOptions } from "../access/access.ts";
import type { AgentEntry } from "../agents/agent-entry.ts";
import type { CreateAgent } from "../agents/agent-makers.ts";
import type { CheckCall } from "../agents/check-call.ts";
import type { Backend } from "../../models/backend.ts";
import { defaultLimits, type GatewayLimits } from "../protocol/limits.ts";
import type { Pending } from "../runs/pending.ts";
import type { Rules } from "../../policy/rules.ts";

/** The options of the entry points, which do not depend on what runs the agents. */
export interface FrontOptions extends EntryOptions {
  /**
   * Texts that are redacted from everything sent to clients. Texts shorter than 8 characters are
   * not redacted.
   */
  readonly secrets?: readonly string[];
  /** The version that is reported to clients. Default `0`. */
  readonly version?: string;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Creates the ids of runs, sessions and connections. Default: random UUIDs. */
  readonly createId?: () => string;
  /**
   * Whether clients on other machines are accepted, under any host name. Needed on loopback too if
   * a proxy on this machine forwards them. Default false.
   */
  readonly exposed?: boolean;
  /** Overrides single limits. Default: those of `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits>;
  /**
   * Answers requests that match no route of the gateway, such as with the page of `createPage()`.
   */
  readonly page?: (request: Request) => Response | Promise<Response>;
}

/** The options of one process that do not depend on how agents are given. */
interface SharedOptions extends FrontOptions {
  /** Stores the sessions. Default: this process's memory. */
  readonly store?: Store;
  /** The folder in which tools work. Approvals show it. Default: the current folder. */
  readonly workspacePath?: string;
  /**
   * Decides which calls run without approval. Default for a list of agents: reading is allowed, all
   * other calls need approval. Default for agents that a function makes: no rules. A call then
   * needs approval if its tool's `needsApproval` or the agent's `beforeToolCall` says so. With
   * rules given, calls that no rule names need approval.
   */
  readonly rules?: Rules;
  /**
   * Stores accepted messages until they are processed. Default: this process's memory. Runs are
   * then not resumed after a restart, whatever the store.
   */
  readonly pending?: Pending;
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
  readonly checkCall?: undefined;
  readonly providers?: undefined;
  readonly systemPrompt?: undefined;
  readonly tools?: undefined;
}

/** A list of agents with their models. The gateway makes the agent of each run from it. */
export interface ListedAgents {
  /** Returns the available agents. Called for each request. */
  readonly agents: () => Promise<readonly AgentEntry[]> | readonly AgentEntry[];
  /** Returns the model of an agent. Rejects with `invalid_argument` if no model is available. */
  readonly backendFor: (agent: AgentEntry) => Promise<Backend> | Backend;
  /**
   * The application's stream functions, by the provider in a model reference (the part before the
   * slash). They are tried before `backendFor`.
   */
  readonly providers?: ReadonlyMap<string, StreamFn>;
  /** Returns the system prompt of the session with this key. Called for each run. */
  readonly systemPrompt: (sessionKey: string) => Promise<string> | string;
  /** Returns the tools of the session with this key. Called for each run. Default: no tools. */
  readonly tools?: (sessionKey: string) => AgentTool[];
  /**
   * Called before each call that no rule denies. It can refuse the call, or have a person asked about
   * one that a rule allows; it cannot allow a call. Default: the rules alone decide.
   */
  readonly checkCall?: CheckCall;
}

export type DoorOptions = SharedOptions & (MadeAgents | ListedAgents);

const ofList = {
  backendFor: true,
  checkCall: true,
  providers: true,
  systemPrompt: true,
  tools: true,
} as const;

const ofFront: Readonly<Record<keyof FrontOptions, true>> = {
  authorize: true,
  clock: true,
  createId: true,
  exposed: true,
  limits: true,
  page: true,
  secrets: true,
  token: true,
  tokens: true,
  trustProxy: true,
  version: true,
};

const names: Readonly<Record<keyof DoorOptions, true>> = {
  ...ofFront,
  ...ofList,
  agents: true,
  pending: true,
  rules: true,
  store: true,
  workspacePath: true,
};

/**
 * Returns whether `agents` is a function that returns a list, which has no parameters. A function
 * that makes agents may also have none, so `backendFor` decides.
 */
export function isListed(options: DoorOptions): options is SharedOptions & ListedAgents {
  const { agents, backendFor } = options;
  return typeof agents === "function" && agents.length === 0 && backendFor !== undefined;
}

/**
 * Throws `invalid_argument` for an unknown option or limit. Also throws if functions make the
 * agents and an option for lists is given. `more` are further known option names.
 */
export function checkOptions(options: DoorOptions, more: readonly string[]): void {
  checkFrontOptions(options, [...Object.keys(names), ...more]);
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

/** Throws `invalid_argument` for an unknown option or limit. `more` are further known names. */
export function checkFrontOptions(options: FrontOptions, more: readonly string[]): void {
  checkNames(options, [...Object.keys(ofFront), ...more]);
  checkNames(options.limits ?? {}, Object.keys(defaultLimits), "limit");
}
