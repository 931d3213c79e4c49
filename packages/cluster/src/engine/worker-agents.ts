/** Makes the agents of runs in a worker. */
import { BowlineError, type Agent } from "@bowline/core";
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
  { sessionId: sessionKey, header, runId, metadata }: AgentRequest,
): Promise<Agent> {
  const given = readMetadata(metadata);
  const { user = ownerIn(header.metadata) ?? {} } = given;
  const { agentId, model } =
    metadata === undefined ? await choiceOf(options, sessionKey, runId) : given;
  const run = { sessionKey, runId, agentId, model, user };
  const made = await createAgentOfRun(options.host, run);
  if (made.streamFn === undefined)
    throw new BowlineError(
      "invalid_argument",
      "The agent has no stream function. Pass streamFn, or import Agent from @bowline/core.",
    );
  return made as Agent;
}

/** Returns the choice of a run that began with messages which were meant for an earlier run. */
async function choiceOf(
  { store, host, choices }: WorkerAgentsOptions,
  sessionKey: string,
  runId: string,
): Promise<Choice> {
  // An attempt after the first: the choice may have changed since.
  const begun = await findRunModel(store, sessionKey, runId);
  if ((await host.agents()).length === 0) return {}; // the run ends with the error for it
  const { id, model } = await agentOf({ store, agents: host.agents, choices }, sessionKey);
  return {
    agentId: begun?.agent ?? id,
    ...(begun !== undefined ? { model: referenceOf(begun) } : model !== undefined && { model }),
  };
}
