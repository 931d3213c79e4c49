/** The entry of an agent, and the choice of the default agent. */

export interface AgentEntry {
  readonly id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly description: string;
}

/**
 * An available agent. For an agent that the application makes, `model` is the model of the last one
 * made.
 */
export type KnownAgent = Omit<AgentEntry, "model"> & Partial<Pick<AgentEntry, "model">>;

/** The agent of messages that name none. */
export const DEFAULT_AGENT = "assistant";

/**
 * Returns the agent with this id. Without an id, returns `assistant`, or the first agent if there
 * is no `assistant`.
 */
export function findAgent<T extends KnownAgent>(agents: readonly T[], id?: string): T | undefined {
  if (id !== undefined) return agents.find((agent) => agent.id === id);
  return agents.find((agent) => agent.id === DEFAULT_AGENT) ?? agents[0];
}
