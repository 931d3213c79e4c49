/**
 * Prepares the agent that the application makes for one run. Adds the gateway's clock, limits,
 * rules and approvals to the agent's settings and hooks.
 */
import {
  BowlineError,
  createBudget,
  requireApproval,
  type BeforeToolCallContext,
} from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import type { User } from "../access/user.ts";
import { defaultRules, type Verdict } from "../../policy/policy.ts";
import type { RunLog } from "../log/run-log.ts";
import type { AgentHost } from "./agent-host.ts";
import { ABORT_GRACE_MS, createContextLimits, denied, runIds } from "./run-agent.ts";

/** How long the application's function may take, in milliseconds. */
const MAKE_MS = 60_000;

export interface MadeAgentRun {
  readonly agentId: string;
  readonly user: User;
  readonly log: Pick<RunLog, "sessionKey" | "runId">;
  /** Aborted with the run, or when the process ends. */
  readonly signal: AbortSignal;
}

/**
 * Makes the agent of a run. Rejects with the error of the application's function, with
 * `invalid_state` for a used agent, with `timeout` after a minute, and with `aborted` if the signal
 * fires.
 */
export async function makeRunAgent(
  host: AgentHost,
  { agentId, user, log, signal }: MadeAgentRun,
): Promise<Agent> {
  const agent = await inTime(host.makers.make(agentId, log.sessionKey, user), host, signal);
  agent.clock = host.clock;
  agent.createId = runIds(log.runId, agent.createId ?? host.createId);
  agent.steeringMode = "all";
  agent.abortGraceMs = Math.min(agent.abortGraceMs ?? ABORT_GRACE_MS, ABORT_GRACE_MS);
  agent.hookTimeoutMs ??= 0;
  agent.budget = smallerOf(agent.budget, host);
  agent.beforeToolCall = allowedBy(host, log.sessionKey, agent.beforeToolCall);
  if (agent.transformContext === undefined) keepShort(agent, host);
  return agent;
}

function keepShort(agent: Agent, host: AgentHost): void {
  const { wrap, transformContext } = createContextLimits(host);
  if (agent.streamFn !== undefined) agent.streamFn = wrap(agent.streamFn);
  agent.transformContext = transformContext;
}

function smallerOf(own: Agent["budget"], { limits }: AgentHost): NonNullable<Agent["budget"]> {
  const { maxTurns, runTimeoutMs: maxTimeMs } = limits;
  // A shared budget has other users, so it is not changed. It becomes the parent of this run's
  // budget.
  if (own !== undefined && "used" in own) return createBudget({ maxTurns, maxTimeMs }, own);
  return {
    ...own,
    maxTurns: Math.min(own?.maxTurns ?? Infinity, maxTurns),
    maxTimeMs: Math.min(own?.maxTimeMs ?? Infinity, maxTimeMs),
  };
}

/**
 * Returns the agent's own `beforeToolCall` between two checks of the rules. The first check keeps the
 * hook from asking a person about a denied call; the second covers arguments that the hook changed.
 */
function allowedBy(
  { rules, isRuled, limits }: AgentHost,
  sessionKey: string,
  own: Agent["beforeToolCall"],
): NonNullable<Agent["beforeToolCall"]> {
  const ask = requireApproval({ timeoutMs: limits.approvalTimeoutMs });
  return async (context, signal) => {
    const tool = context.toolCall.name;
    const judge = async (args: unknown): Promise<Pick<Verdict, "action" | "rule">> =>
      rules.judge({ tool, args, sessionKey });
    if ((await judge(context.args)).action === "deny") return denied;
    let approved: string | undefined;
    const approve = (args: unknown = context.args): void => {
      approved = JSON.stringify(args);
      context.approve?.(args);
    };
    const verdict = (await own?.({ ...context, approve }, signal)) ?? undefined;
    if (verdict?.block === true) return verdict;
    const args = verdict?.args ?? context.args;
    const { action, rule } = await judge(args);
    if (action === "deny") return denied;
    const isDefault = defaultRules.some((by) => by === rule);
    if (approved === JSON.stringify(args)) return verdict;
    const isAsked = context.needsApproval !== undefined || (isRuled && action === "ask");
    if (action === "allow" && !isDefault) context.approve?.(args);
    else if (isAsked) return (await ask(about(context, args), signal)) ?? verdict;
    return verdict;
  };
}

/**
 * Returns the context of the approval, with the final arguments of the call. The approval has an id
 * of its own, since the agent's hook may have requested another approval for this call.
 */
function about(context: BeforeToolCallContext, args: unknown): BeforeToolCallContext {
  return {
    ...context,
    args,
    idempotencyKey: `${context.idempotencyKey}:gateway`,
    approve: (allowed = args) => context.approve?.(allowed),
  };
}

async function inTime<T>(work: Promise<T>, { clock }: AgentHost, signal: AbortSignal): Promise<T> {
  const releases: (() => void)[] = [];
  const ended = new Promise<never>((_, reject) => {
    const late = `The agent was not made within ${MAKE_MS / 1000} s.`;
    const abort = (): void => reject(new BowlineError("aborted", "The run was aborted."));
    releases.push(
      clock.setTimer(MAKE_MS, () => reject(new BowlineError("timeout", late))),
      () => signal.removeEventListener("abort", abort),
    );
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    for (const release of releases) release();
  }
}
