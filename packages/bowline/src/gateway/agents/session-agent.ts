/** Finds the agent and model of a session: those chosen for it, else those of AGENTS.md. */
import type { Store } from "@bowline/core/session";
import { findAgent, type KnownAgent } from "./agent-entry.ts";
import type { Choices } from "./choices.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import { isMissing } from "../../is-missing.ts";

/** The available agents, and the choices of the sessions. */
export interface Agents {
  readonly store: Store;
  readonly agents: () => Promise<readonly KnownAgent[]>;
  readonly choices: Pick<Choices, "of">;
}

/**
 * Returns the agent that answers in a session. `agentId` names another agent for one message; its
 * own model then answers. Rejects with `not_found`. Also rejects if the session cannot be read,
 * since no agent but the chosen one may answer.
 */
export async function agentOf(
  { store, agents, choices }: Agents,
  sessionKey: string,
  agentId?: string,
): Promise<KnownAgent> {
  const { metadata } = await store.load(sessionKey).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return { metadata: undefined };
  });
  const { model, agentId: chosen = metadata?.agentId } = await choices.of(sessionKey);
  const all = await agents();
  const own = all.find(({ id }) => id === chosen) ?? findAgent(all);
  const found = agentId === undefined ? own : findAgent(all, agentId);
  if (found === undefined) throw noAgent(agentId);
  return model === undefined || found !== own ? found : { ...found, model };
}

export function noAgent(id: string | undefined): GatewayError {
  const message =
    id === undefined
      ? "There are no agents: AGENTS.md names none."
      : `There is no agent ${JSON.stringify(id)}.`;
  return new GatewayError("not_found", message);
}
