/** An agent that can be asked, and which one is when nobody says. */

export interface AgentEntry {
  readonly id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly description: string;
}

/** Asked when nobody says which. */
export const DEFAULT_AGENT = "assistant";

/** The agent of this id; without one `assistant`, else the first. */
export function findAgent(agents: readonly AgentEntry[], id?: string): AgentEntry | undefined {
  if (id !== undefined) return agents.find((agent) => agent.id === id);
  return agents.find((agent) => agent.id === DEFAULT_AGENT) ?? agents[0];
}
