/** The entries that record the agent and the model that a client chose for a session. */
import { isBowlineError, parseModelRef } from "@bowline/core";
import type { EntryBody } from "@bowline/core/session";
import { findAgent, type KnownAgent } from "../agents/agent-entry.ts";
import type { ResolvedAgents } from "../agents/resolve-agents.ts";
import type { Choice } from "../agents/choices.ts";
import { agentOf, type Agents } from "../agents/session-agent.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Params } from "../protocol/protocol.ts";

export type ModelChange = Extract<EntryBody, { readonly type: "model_change" }>;

/** Returns the entries of a choice. None for an agent that is not available any more. */
export async function choiceEntries(
  { agents }: Pick<ResolvedAgents, "agents">,
  { agentId, model }: Choice,
): Promise<readonly ModelChange[]> {
  const agent = agentId === undefined ? undefined : findAgent(await agents(), agentId);
  const entries: ModelChange[] = [];
  if (agent !== undefined)
    entries.push({
      type: "model_change",
      // The model of an agent that was not made yet is unknown.
      ...(agent.model === undefined ? { provider: "", model: "" } : parseModelRef(agent.model)),
      agent: agent.id,
    });
  if (model !== undefined) entries.push({ type: "model_change", ...parseModelRef(model) });
  return entries;
}

/**
 * Checks the changes of a session and returns the chosen agent and model. Rejects with `bad_params`
 * if this server cannot use the model, or if there is nothing to change, and with `not_found` for an
 * unknown agent.
 */
export async function checkPatch(
  host: Agents & Pick<ResolvedAgents, "backendFor">,
  { sessionKey, title, model, agentId }: Params<"sessions.patch">,
): Promise<Choice> {
  if (title === undefined && model === undefined && agentId === undefined)
    throw new GatewayError("bad_params", "Nothing to change. Pass a title, a model or an agentId.");
  const agent = agentId === undefined ? undefined : await agentOf(host, sessionKey, agentId);
  if (model !== undefined)
    await assertUsable(host, model, agent ?? (await agentOf(host, sessionKey)));
  return { ...(agentId && { agentId }), ...(model && { model }) };
}

/** Refuses a model that another model would have to replace: the client chose this one. */
async function assertUsable(
  { backendFor }: Pick<ResolvedAgents, "backendFor">,
  model: string,
  agent: KnownAgent,
): Promise<void> {
  const refused = (why: string): GatewayError =>
    new GatewayError("bad_params", why, { issues: [{ path: "model", message: why }] });
  try {
    const backend = await backendFor({ ...agent, model });
    if (backend === undefined)
      throw refused(
        `The application sets the model of the agent "${agent.id}". It cannot be changed here.`,
      );
    const { notice } = backend;
    if (notice !== undefined) throw refused(`This server cannot use the model: ${notice.message}`);
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "invalid_argument") throw error;
    throw refused(error.message);
  }
}
