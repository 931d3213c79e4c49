/** The agent of `bowline run`, and what it reaches the outside by. */
import { createBudget, type Agent, type AgentTool } from "@bowline/core";
import type { Hooks } from "../hooks/hooks.ts";
import type { Discovered } from "../models/discover.ts";
import { recordRun, type RunRecorder } from "../record/record-run.ts";
import { createAgent, type Approver, type RunPorts, type RunSetup } from "../record/run-setup.ts";
import { secretsOf } from "../secrets.ts";
import type { RunOptions } from "./run-options.ts";

interface AgentParts {
  readonly setup: RunSetup;
  readonly ports: RunPorts;
  readonly hooks: Hooks;
  readonly tell: (line: string) => void;
}

/** Creates the agent, recorded if the options say so, and whether hooks may refuse its end. */
export function agentOf(
  { record }: Pick<RunOptions, "record">,
  { setup, ports, hooks, tell }: AgentParts,
  env: NodeJS.ProcessEnv,
): { readonly agent: Agent; readonly recorder?: RunRecorder; readonly isStoppable: boolean } {
  const isStoppable = hooks.has("Stop");
  if (record !== undefined) {
    if (isStoppable)
      tell("hooks for Stop do not run with --record, because a replay could not repeat them");
    const recorder = recordRun(setup, ports, secretsOf(env, []));
    return { agent: createAgent(setup, recorder.ports), recorder, isStoppable: false };
  }
  // The runs that a hook adds draw on the budget of the first.
  const budget = isStoppable ? createBudget(setup.budget) : setup.budget;
  return { agent: createAgent({ ...setup, budget }, ports), isStoppable };
}

export function portsOf(
  tools: readonly AgentTool[],
  { apiKey, fetch }: Discovered,
  beforeToolCall: Approver,
): RunPorts {
  return {
    tools,
    beforeToolCall,
    ...(apiKey !== undefined && { apiKey }),
    ...(fetch !== undefined && { fetch }),
  };
}
