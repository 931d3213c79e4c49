/**
 * Who answers in a session: the agent and the model that were chosen for it, else those of
 * AGENTS.md.
 */
import type { Store } from "@bowline/core/session";
import { findAgent, type KnownAgent } from "./agent-entry.ts";
import type { Choices } from "./choices.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import { isMissing } from "../../is-missing.ts";

/** The agents there are, and what was chosen for which session. */
export interface Agents {
  readonly store: Store;
  readonly agents: () => Promise<readonly KnownAgent[]>;
  readonly choices: Choices;
}

/**
 * `agentId` is asked for one message: then its own model answers, unless it is the session's agent.
 * Rejects with `not_found`, and as the store does when it cannot be read: another than was chosen
 * must not answer.
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
  const own = findAgent(all, typeof chosen === "string" ? chosen : undefined) ?? findAgent(all);
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
