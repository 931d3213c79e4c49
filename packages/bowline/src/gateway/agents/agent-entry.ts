/** An agent that can be asked, and which one is when nobody says. */

export interface AgentEntry {
  readonly id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly description: string;
}

/** An agent that can be asked. Of one that the application makes the model is that of the last. */
export type KnownAgent = Omit<AgentEntry, "model"> & Partial<Pick<AgentEntry, "model">>;

/** Asked when nobody says which. */
export const DEFAULT_AGENT = "assistant";

/** The agent of this id; without one `assistant`, else the first. */
export function findAgent<T extends KnownAgent>(agents: readonly T[], id?: string): T | undefined {
  if (id !== undefined) return agents.find((agent) => agent.id === id);
  return agents.find((agent) => agent.id === DEFAULT_AGENT) ?? agents[0];
}
