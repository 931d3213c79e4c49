/** Who answers in the session that is shown, and who might. */
import type { AgentInfo } from "../../gateway/protocol/protocol.ts";
import type { PageState } from "./page-state.ts";

/** Undefined before the agents are known, and for one that the server has no more. */
export function agentOf({ agents, agentId, session }: PageState): AgentInfo | undefined {
  const wanted = session?.agentId ?? agentId;
  return agents.find(({ id, isDefault }) => (wanted === undefined ? isDefault : id === wanted));
}

/**
 * Models of agents and those that were asked here and in other sessions, as `provider/model`, each
 * once; never the practice model, which is nobody's choice.
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
