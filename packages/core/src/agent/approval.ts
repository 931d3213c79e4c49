/**
 * Asks a person before a call runs. Bound to the exact arguments, answered once, and denied when
 * nobody answers in time.
 */
import { onAbort } from "../clock.ts";
import { defined } from "../json-value.ts";
import type { BeforeToolCallContext, BeforeToolCallResult } from "./contract/hooks.ts";

export interface ApprovalAnswer {
  readonly decision: "allow" | "deny";
  /** Who answered, for the record. */
  readonly by?: string;
  /** For the model, with `deny`. */
  readonly reason?: string;
  /**
   * With `allow`: later calls of a tool of this name are not asked about, whatever their arguments,
   * until the agent's `reset()`. Kept in memory.
   */
  readonly remember?: "session";
}

export interface ApprovalOptions {
  /**
   * Whether a call has to be asked about; a text is the reason that is shown. Default: every call.
   * Calls that their tool's `needsApproval` asks for are asked about in any case.
   */
  readonly needed?: (
    context: BeforeToolCallContext,
  ) => boolean | string | undefined | PromiseLike<boolean | string | undefined>;
  /**
   * How long an answer is waited for, in milliseconds; then the call is denied. Default 30 minutes;
   * 0 waits for ever.
   */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/**
 * A `beforeToolCall` that emits `approval_request` and waits for the answer under its `approvalId`
 * (`agent.answer(approvalId, { decision: "allow" })`, from whatever face shows the question), then
 * emits `approval_answer`. Whatever is no allowance denies.
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
    // Registered before it is announced: an answer may come at once.
    const answer = run.waitFor<unknown>(approvalId, waiting).then(readAnswer, unanswered);
    const expiresAt = timeoutMs > 0 ? run.clock.now() + timeoutMs : undefined;
    const cancel = timeoutMs > 0 ? run.clock.setTimer(timeoutMs, () => late.abort()) : () => {};
    const release = onAbort(waiting, cancel); // who is waited for may ignore it
    const about = defined({ reason, expiresAt });
    await run.emit({ type: "approval_request", approvalId, toolCallId, toolName, args, ...about });
    const given = await answer;
    cancel();
    release(); // Node keeps a composed signal for as long as somebody listens to it
    await run.emit({ type: "approval_answer", approvalId, ...given });
    if (given.remember) run.approvedTools.add(toolName);
    if (given.decision === "allow") return allow();
    return { block: true, reason: `Denied: ${given.reason ?? "a person said no"}.` };

    function allow(): undefined {
      context.approve?.();
    }

    function unanswered(): Settled {
      return {
        decision: "expired",
        reason: late.signal.aborted ? "nobody answered in time" : "the run ended before an answer",
      };
    }
  };
}

type Settled = Omit<ApprovalAnswer, "decision"> & {
  readonly decision: ApprovalAnswer["decision"] | "expired";
};

/** What is no clear allowance is a denial. */
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
