/** Makes the agents of runs that a worker executes, as the gateway of one process makes them. */
import { BowlineError } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import type { User } from "../access/user.ts";
import { findAgent } from "../agents/agent-entry.ts";
import { noAgent } from "../agents/session-agent.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { AgentHost } from "../runs/agent-host.ts";
import { makeRunAgent } from "../runs/made-agent.ts";
import { createRunAgent } from "../runs/run-agent.ts";
import { infoOf } from "../runs/run-failure.ts";

/** The run for which an agent is made. */
export interface AgentOfRun {
  readonly sessionKey: string;
  readonly runId: string;
  /** Default: the default agent. */
  readonly agentId: string | undefined;
  /** `provider/model`, for a listed agent. Default: the agent's own. */
  readonly model: string | undefined;
  /** The person whose message the run answers. */
  readonly user: User;
}

/**
 * Makes the agent of a run, with the rules, the approvals and the limits of the gateway. Rejects with
 * an error that is not retryable if there is no such agent or model, or if the application's function
 * fails or takes longer than a minute: the run then ends with it.
 */
export async function createAgentOfRun(host: AgentHost, run: AgentOfRun): Promise<Agent> {
  try {
    return await make(host, run);
  } catch (error) {
    throw toFinal(error);
  }
}

async function make(
  host: AgentHost,
  { sessionKey, runId, agentId, model, user }: AgentOfRun,
): Promise<Agent> {
  const agent = findAgent(await host.agents(), agentId);
  if (agent === undefined) throw noAgent(agentId);
  const log = { sessionKey, runId };
  const entry = model === undefined || agent.model === undefined ? agent : { ...agent, model };
  const backend = await host.backendFor(entry);
  if (backend !== undefined) return createRunAgent(host, log, () => backend);
  // The durable engine aborts the run; it does not wait for the application's function.
  const { signal } = new AbortController();
  return makeRunAgent(host, { agentId: agent.id, user, log, signal });
}

/** A retryable error would attempt the run again and again, while its clients wait. */
function toFinal(error: unknown): BowlineError {
  const info =
    error instanceof GatewayError
      ? ({ code: "not_found", message: error.message } as const)
      : infoOf(error);
  const { code, message } = info;
  return new BowlineError(code, message, { ...info, retryable: false, cause: error });
}
