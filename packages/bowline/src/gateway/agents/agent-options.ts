/** How an application gives its agents: by functions that make them, or as a list with models. */
import { BowlineError, type AgentTool, type StreamFn } from "@bowline/core";
import type { Backend } from "../../models/backend.ts";
import type { AgentEntry } from "./agent-entry.ts";
import type { CreateAgent } from "./agent-makers.ts";

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
}

export type AgentOptions = MadeAgents | ListedAgents;

const ofList = { backendFor: true, providers: true, systemPrompt: true, tools: true } as const;

/** The names of these options. */
export const ofAgents: Readonly<Record<keyof AgentOptions | keyof typeof ofList, true>> = {
  ...ofList,
  agents: true,
};

/**
 * Returns whether `agents` is a function that returns a list, which has no parameters. A function
 * that makes agents may also have none, so `backendFor` decides.
 */
export function isListed(options: AgentOptions): options is ListedAgents {
  const { agents, backendFor } = options;
  return typeof agents === "function" && agents.length === 0 && backendFor !== undefined;
}

/**
 * Throws `invalid_argument` if the option `agents` is missing or of another type. Also throws if
 * functions make the agents and an option for lists is given.
 */
export function checkAgents(options: AgentOptions): void {
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
