/**
 * Asks a person before a call runs. An approval is bound to the exact arguments and answered once.
 * Without an answer in time the call is denied.
 */
import { onAbort } from "../clock.ts";
import { defined } from "../json-value.ts";
import type { BeforeToolCallContext, BeforeToolCallResult } from "./contract/hooks.ts";

export interface ApprovalAnswer {
  readonly decision: "allow" | "deny";
  /** Who answered. Recorded in the event. */
  readonly by?: string;
  /** With `deny`: the reason that the model gets. */
  readonly reason?: string;
  /**
   * With `allow`: later calls of a tool with this name need no approval, with any arguments, until
   * the agent's `reset()`. Stored in memory only.
   */
  readonly remember?: "session";
}

export interface ApprovalOptions {
  /**
   * Returns whether a call needs approval. A string means yes and is the reason to show. Default:
   * every call does. A call whose tool sets `needsApproval` always needs it.
   */
  readonly needed?: (
    context: BeforeToolCallContext,
  ) => boolean | string | undefined | PromiseLike<boolean | string | undefined>;
  /**
   * Time to wait for an answer, in milliseconds; then the call is denied. Default 30 minutes; 0
   * means no limit.
   */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/**
 * Creates a `beforeToolCall` hook that asks for approval. It emits `approval_request`, waits for
 * `agent.answer(approvalId, { decision: "allow" })`, then emits `approval_answer`. Any answer other
 * than `allow` denies the call.
 */
export function requireApproval(
  options: ApprovalOptions = {},
): (
  context: BeforeToolCallContext,
  signal?: AbortSignal,
) => Promise<BeforeToolCallResult | undefined> {
  const { needed = () => true, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return async (context, signal) => {
    const { run, toolCall, args, idempotencyKey: approvalId, needsApproval } = context;
    const { id: toolCallId, name: toolName } = toolCall;
    if (context.isOutput === true) return undefined;
    const needs = [needsApproval, await needed(context)];
    if (needs.every((need) => need === false || need === undefined)) return undefined;
    if (run.approvedTools.has(toolName)) return allow();
    const reason = needs.find((need) => typeof need === "string");
    const late = new AbortController();
    const waiting = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
    // Wait before emitting the request, because an answer may come at once.
    const answer = run.waitFor<unknown>(approvalId, waiting).then(readAnswer, unanswered);
    const expiresAt = timeoutMs > 0 ? run.clock.now() + timeoutMs : undefined;
    const cancel = timeoutMs > 0 ? run.clock.setTimer(timeoutMs, () => late.abort()) : () => {};
    const release = onAbort(waiting, cancel); // clear the timer even if waitFor ignores the signal
    const about = defined({ reason, expiresAt });
    await run.emit({ type: "approval_request", approvalId, toolCallId, toolName, args, ...about });
    const given = await answer;
    cancel();
    release(); // Node keeps a composed signal in memory while it has listeners
    await run.emit({ type: "approval_answer", approvalId, ...given });
    if (given.remember) run.approvedTools.add(toolName);
    if (given.decision === "allow") return allow();
    const verb = signal?.aborted && given.decision === "expired" ? "Not run" : "Denied";
    return { block: true, reason: `${verb}: ${given.reason ?? "a person said no"}.` };

    function allow(): undefined {
      context.approve?.();
    }

    function unanswered(): Settled {
      return {
        decision: "expired",
        reason: late.signal.aborted
          ? "there was no answer in time"
          : "the run ended before an answer",
      };
    }
  };
}

type Settled = Omit<ApprovalAnswer, "decision"> & {
  readonly decision: ApprovalAnswer["decision"] | "expired";
};

/** Reads an answer. Anything but an explicit `allow` is a denial. */
function readAnswer(value: unknown): ApprovalAnswer {
  const { decision, by, reason, remember } = (value ?? {}) as Partial<
    Record<keyof ApprovalAnswer, unknown>
  >;
  const isAllowed = decision === "allow";
  return {
    decision: isAllowed ? "allow" : "deny",
    ...(isAllowed && remember === "session" && { remember }),
    ...(typeof by === "string" && { by }),
    ...(typeof reason === "string" && { reason }),
  };
}
