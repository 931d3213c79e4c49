/** The agent of the shown session, and the models to choose from. */
import type { AgentInfo } from "../../gateway/protocol/protocol.ts";
import type { PageState } from "./page-state.ts";

/** Returns undefined before the agents are loaded, and for an agent that the server removed. */
export function agentOf({ agents, agentId, session }: PageState): AgentInfo | undefined {
  const wanted = session?.agentId ?? agentId;
  return agents.find(({ id, isDefault }) => (wanted === undefined ? isDefault : id === wanted));
}

/**
 * Returns the models of agents and those used in this and other sessions, as `provider/model`
 * without duplicates. Omits the practice model, which cannot be chosen.
 */
export function knownModels({ agents, sessions, session, conversation }: PageState): string[] {
  const { past, live } = conversation;
  const asked = [...past, ...live.values()].flatMap(({ turns }) => turns);
  return [
    ...new Set([
      ...agents.flatMap(({ model, answeredBy, isPractice }) =>
        isPractice ? [model ?? ""] : [model ?? "", answeredBy],
      ),
      ...[...sessions.items, ...(session === undefined ? [] : [session])].flatMap(
        ({ model = [] }) => model,
      ),
      ...asked.map(({ provider, model }) => `${provider}/${model}`),
    ]),
  ].filter((name) => name.includes("/") && !name.startsWith("practice/"));
}
