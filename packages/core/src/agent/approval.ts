/**
 * Asks a person before a call runs. An approval is bound to the exact arguments and answered once.
 * Without an answer in time the call is denied.
 */
import { defined } from "../json-value.ts";
import type { BeforeToolCallContext, BeforeToolCallResult } from "./contract/hooks.ts";
import { askPerson } from "./run/ask-person.ts";

export type { ApprovalAnswer } from "./run/ask-person.ts";

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
/** For the model, if another hook makes a plain refusal of the question. */
const UNASKED = "Not run: a person was not asked.";

/**
 * Creates a `beforeToolCall` hook that asks for approval. It emits `approval_request`, waits for
 * `agent.answer(approvalId, { decision: "allow" })`, then emits `approval_answer`. Any answer other
 * than `allow` denies the call. In a run whose engine records what hooks return, it returns `ask`
 * instead, and the loop does the same.
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
    if (context.isOutput === true) return undefined;
    const needs = [needsApproval, await needed(context)];
    if (needs.every((need) => need === false || need === undefined)) return undefined;
    if (run.approvedTools.has(toolCall.name)) return allow();
    const end = async (): Promise<number> => run.clock.now() + timeoutMs;
    const question = {
      approvalId,
      args,
      ...defined({
        reason: needs.find((need) => typeof need === "string"),
        // A run that is resumed keeps the time limit.
        expiresAt: timeoutMs > 0 ? await run.decide(`expires:${approvalId}`, end) : undefined,
      }),
    };
    if (context.isRecorded) return { block: true, reason: UNASKED, ask: question };
    const asking = { ...run, now: () => run.clock.now(), signal };
    const reason = await askPerson(asking, toolCall, question);
    return reason === undefined ? allow() : { block: true, reason };

    function allow(): undefined {
      context.approve?.();
    }
  };
}
