/** Creates the agent of one run, with its policy, its limits and its compaction. */
import {
  Agent,
  createCompaction,
  createProgressGuard,
  requireApproval,
  streamByProtocol,
  type BeforeToolCallResult,
  type StreamFn,
} from "@bowline/core";
import type { Backend } from "../../models/backend.ts";
import { defaultRules } from "../../policy/policy.ts";
import type { RunLog } from "../log/run-log.ts";
import type { AgentHost } from "./agent-host.ts";

/** How long to wait for tools that ignore an abort, in milliseconds. */
export const ABORT_GRACE_MS = 1000;

/** The result for a call that a rule denies. */
export const denied: BeforeToolCallResult = {
  block: true,
  reason: "Denied: the policy of this server forbids it.",
};

/**
 * Returns a function that creates ids. The first is the run's, since the agent asks for that first.
 */
export function runIds(runId: string, createId: () => string): () => string {
  let isFirst = true;
  return () => {
    const id = isFirst ? runId : createId();
    isFirst = false;
    return id;
  };
}

/**
 * Returns a hook and a wrapper of the stream function. They compact long conversations and stop
 * runs that repeat the same tool calls.
 */
export function createContextLimits({ clock }: Pick<AgentHost, "clock">): {
  readonly wrap: (streamFn: StreamFn) => StreamFn;
  readonly transformContext: NonNullable<Agent["transformContext"]>;
} {
  const compaction = createCompaction({ streamOptions: { clock } });
  const guard = createProgressGuard({ now: () => clock.now() });
  return {
    wrap: (streamFn) => compaction.wrap(streamFn),
    transformContext: async (messages, signal, run) =>
      guard(await compaction.transformContext(messages, signal, run)),
  };
}

/** `backend` is called for each model call, since the model may change during the run. */
export async function createRunAgent(
  host: AgentHost,
  { sessionKey, runId }: Pick<RunLog, "sessionKey" | "runId">,
  backend: () => Backend,
): Promise<Agent> {
  const { clock, createId, limits, rules, tools, systemPrompt, checkCall } = host;
  const { wrap, transformContext } = createContextLimits(host);
  const ask = requireApproval({ timeoutMs: limits.approvalTimeoutMs });
  return new Agent({
    systemPrompt: await systemPrompt(sessionKey),
    model: backend().model,
    tools: tools(sessionKey),
    getApiKey: () => backend().apiKey,
    fetch: (...asked) => (backend().fetch ?? fetch)(...asked),
    clock,
    createId: runIds(runId, createId),
    streamFn: wrap((...call) => (backend().streamFn ?? streamByProtocol)(...call)),
    transformContext,
    steeringMode: "all",
    beforeToolCall: async (context, signal) => {
      const { action, rule } = await rules.judge({
        tool: context.toolCall.name,
        args: context.args,
        sessionKey,
      });
      // The default rules allow reading. They do not overrule a tool's `needsApproval`: only a rule
      // that a person wrote does.
      const isOpen = context.needsApproval === undefined || !defaultRules.some((by) => by === rule);
      if (action === "deny") return denied;
      const { id: toolCallId, name: toolName } = context.toolCall;
      const call = { sessionKey, toolName, toolCallId, args: context.args };
      const check = (await checkCall?.(call, signal)) ?? {};
      if (check.block !== undefined) return { block: true, reason: check.block };
      const { ask: reason } = check;
      if (action === "allow" && isOpen && reason === undefined) return context.approve?.();
      if (reason === undefined) return ask(context, signal);
      const { approvalTimeoutMs: timeoutMs } = limits;
      return requireApproval({ timeoutMs, needed: () => reason })(context, signal);
    },
    abortGraceMs: ABORT_GRACE_MS,
    hookTimeoutMs: 0,
    budget: { maxTurns: limits.maxTurns, maxTimeMs: limits.runTimeoutMs },
  });
}
