/** The agent of one run: its policy, its limits, and what keeps its conversation short enough. */
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
import type { Host } from "./host.ts";

/** Tools that ignore an abort are waited for this long, in milliseconds. */
export const ABORT_GRACE_MS = 1000;

/** Of a call that a rule denies. */
export const denied: BeforeToolCallResult = {
  block: true,
  reason: "Denied: the policy of this server forbids it.",
};

/** The first id that an agent makes is its run's. */
export function runIds(runId: string, createId: () => string): () => string {
  let isFirst = true;
  return () => {
    const id = isFirst ? runId : createId();
    isFirst = false;
    return id;
  };
}

/**
 * Returns what compacts long conversations and stops runs that repeat the same tool calls: a hook of
 * the agent, and a wrapper of its stream function.
 */
export function createContextLimits({ clock }: Pick<Host, "clock">): {
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

/** `backend` gives what answers, which may be another from call to call. */
export async function createRunAgent(
  host: Host,
  { sessionKey, runId }: Pick<RunLog, "sessionKey" | "runId">,
  backend: () => Backend,
): Promise<Agent> {
  const { clock, createId, limits, rules, tools, systemPrompt } = host;
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
      const { action, rule } = rules.judge({
        tool: context.toolCall.name,
        args: context.args,
        sessionKey,
      });
      // The default rules allow reading. They do not overrule a tool's `needsApproval`: only a rule
      // that a person wrote does.
      const isOpen = context.needsApproval === undefined || !defaultRules.some((by) => by === rule);
      if (action === "allow" && isOpen) return context.approve?.();
      if (action === "deny") return denied;
      return ask(context, signal);
    },
    abortGraceMs: ABORT_GRACE_MS,
    hookTimeoutMs: 0,
    budget: { maxTurns: limits.maxTurns, maxTimeMs: limits.runTimeoutMs },
  });
}
