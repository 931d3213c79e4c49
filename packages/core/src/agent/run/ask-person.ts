/** Asks a person about a call, and reads the answer. */
import { isBowlineError } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { ToolCall } from "../../llm/message.ts";
import type { ApprovalQuestion } from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";

/** The parts of a run that asking needs. */
export interface Asking extends Pick<RunPort, "emit" | "waitFor" | "approvedTools"> {
  /** The time of an answer that does not carry its own. */
  now(): number;
  readonly signal?: AbortSignal | undefined;
}

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
  /**
   * When the answer was given, in milliseconds since the epoch, for an answer that is delivered
   * later. Set by the program that delivers it. Default: the time of the delivery.
   */
  readonly at?: number;
}

type Settled = Omit<ApprovalAnswer, "decision" | "at"> & {
  readonly decision: ApprovalAnswer["decision"] | "expired";
};

/**
 * Emits `approval_request`, waits for the answer, emits `approval_answer`. Resolves with undefined
 * when the call is allowed, otherwise with the reason for the model.
 */
export async function askPerson(
  run: Asking,
  { id: toolCallId, name: toolName }: Pick<ToolCall, "id" | "name">,
  { approvalId, args, reason, expiresAt }: ApprovalQuestion,
): Promise<string | undefined> {
  const { signal } = run;
  // Wait before emitting the request, because an answer may come at once.
  const answer = run
    .waitFor<unknown>(approvalId, { signal, until: expiresAt })
    .then((value) => readAnswer(value, expiresAt, run.now()), unanswered);
  const about = defined({ reason, expiresAt });
  await run.emit({ type: "approval_request", approvalId, toolCallId, toolName, args, ...about });
  const given = await answer;
  await run.emit({ type: "approval_answer", approvalId, ...given });
  if (given.remember) run.approvedTools.add(toolName);
  if (given.decision === "allow") return undefined;
  const verb = signal?.aborted && given.decision === "expired" ? "Not run" : "Denied";
  return `${verb}: ${given.reason ?? "a person said no"}.`;
}

function unanswered(error: unknown): Settled {
  return isBowlineError(error) && error.code === "timeout"
    ? tooLate
    : { decision: "expired", reason: "the run ended before an answer" };
}

const tooLate: Settled = { decision: "expired", reason: "there was no answer in time" };

/**
 * Reads an answer. Anything but an explicit `allow` is a denial. So is an answer that was given
 * after `expiresAt`: a wait that begins anew after a crash may still deliver it.
 */
function readAnswer(value: unknown, expiresAt = Infinity, now: number): Settled {
  const { decision, by, reason, remember, at } = (value ?? {}) as Partial<
    Record<keyof ApprovalAnswer, unknown>
  >;
  if ((typeof at === "number" ? at : now) > expiresAt) return tooLate;
  const isAllowed = decision === "allow";
  return {
    decision: isAllowed ? "allow" : "deny",
    ...(isAllowed && remember === "session" && { remember }),
    ...(typeof by === "string" && { by }),
    ...(typeof reason === "string" && { reason }),
  };
}
