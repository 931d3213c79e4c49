/** Converts the agents for clients. */
import type { Backend } from "../../models/backend.ts";
import type { AgentInfo } from "../protocol/protocol.ts";
import { findAgent, type KnownAgent } from "./agent-entry.ts";
import { referenceOf } from "./choices.ts";

export interface AgentSource {
  readonly agents: () => Promise<readonly KnownAgent[]>;
  /** Undefined for an agent that the application makes. */
  readonly backendFor: (agent: KnownAgent) => Promise<Backend | undefined>;
}

export async function agentInfos({ agents, backendFor }: AgentSource): Promise<AgentInfo[]> {
  const all = await agents();
  const usual = findAgent(all);
  return Promise.all(
    all.map(async (agent) => {
      const answer = backendFor(agent).then(
        (backend) => answerOf(agent, backend),
        () => ({ answeredBy: "", isPractice: false }),
      );
      return { ...agent, ...(await answer), isDefault: agent === usual };
    }),
  );
}

function answerOf(
  agent: KnownAgent,
  backend: Backend | undefined,
): Omit<AgentInfo, keyof KnownAgent | "isDefault"> {
  if (backend === undefined)
    return { answeredBy: agent.model ?? "", isPractice: false, isModelFixed: true };
  const { model, isPractice } = backend;
  return {
    answeredBy: referenceOf({ provider: model.provider, model: model.id }),
    isPractice,
  };
}
