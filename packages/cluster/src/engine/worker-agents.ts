/** Makes the agents of runs in a worker. */
import type { Agent } from "@bowline/core";
import type { PostgresStore } from "@bowline/postgres";
import type { AgentRequest } from "@bowline/restate";
import {
  agentOf,
  createAgentOfRun,
  findRunModel,
  ownerIn,
  referenceOf,
  type AgentHost,
  type Choice,
} from "bowline/engine";
import type { SessionChoices } from "./choices.ts";
import { readMetadata } from "./message-metadata.ts";

export interface WorkerAgentsOptions {
  readonly store: PostgresStore;
  readonly host: AgentHost;
  readonly choices: SessionChoices;
}

/** Makes the agent of a run: the same in each attempt, whatever was chosen since it began. */
export async function createAgentFor(
  options: WorkerAgentsOptions,
  { sessionId: sessionKey, header, runId, agent, metadata }: AgentRequest,
): Promise<Agent> {
  const { user = ownerIn(header.metadata) ?? {}, model } = readMetadata(metadata);
  const choice =
    metadata === undefined
      ? await choiceOf(options, { sessionKey, runId, agent })
      : { agentId: agent, model };
  return createAgentOfRun(options.host, {
    sessionKey,
    runId,
    agentId: choice.agentId,
    model: choice.model,
    user,
  });
}

/** Returns the choice of a run that began with messages which were meant for an earlier run. */
async function choiceOf(
  { store, host, choices }: WorkerAgentsOptions,
  {
    sessionKey,
    runId,
    agent,
  }: { readonly sessionKey: string; readonly runId: string; readonly agent: string | undefined },
): Promise<Choice> {
  const begun = await findRunModel(store, sessionKey, runId);
  if (begun !== undefined)
    return { agentId: begun.agent ?? agent ?? "", model: referenceOf(begun) };
  const chosen = await agentOf({ store, agents: host.agents, choices }, sessionKey, agent);
  return { agentId: chosen.id, ...(chosen.model !== undefined && { model: chosen.model }) };
}
