/** Converts the approvals of an agent's run for clients, with secrets redacted. */
import type { AgentEvent } from "@bowline/core";
import { describeCall } from "../../tools/index.ts";
import type { RunEventBody } from "../log/run-log.ts";
import { patternOf } from "../../policy/policy.ts";
import type { Approval } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

export type ApprovalRequest = Pick<
  Extract<AgentEvent, { readonly type: "approval_request" }>,
  "approvalId" | "toolCallId" | "toolName" | "args" | "reason" | "expiresAt"
>;

type ApprovalAnswered = Pick<
  Extract<AgentEvent, { readonly type: "approval_answer" }>,
  "approvalId" | "decision" | "by" | "reason"
>;

export interface ShownWith {
  readonly filter: SecretFilter;
  /** The folder in which commands run. */
  readonly workingDir: string;
  /** Whether rules that people add are remembered. If not, approvals have no pattern. Default true. */
  readonly patterns?: boolean | undefined;
}

/** Returns the approval as clients see it. */
export function shownApproval(
  { approvalId, toolCallId, toolName, args, reason, expiresAt }: ApprovalRequest,
  { runId, sessionKey }: { readonly runId: string; readonly sessionKey: string },
  { filter, workingDir, patterns = true }: ShownWith,
): Approval {
  const { command } = args as { command?: unknown };
  const pattern = patterns ? patternOf({ tool: toolName, args, sessionKey }) : undefined;
  return {
    approvalId: sayable(approvalId),
    runId,
    sessionKey,
    toolCallId,
    toolName,
    summary: filter.text(describeCall(toolName, args)),
    arguments: filter.value(args),
    ...(toolName === "bash" &&
      typeof command === "string" && { command: filter.text(command), workingDir }),
    ...(reason !== undefined && { reason: filter.text(reason) }),
    ...(pattern !== undefined && filter.text(pattern) === pattern && { pattern }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Returns the answer as clients see it. */
export function shownAnswer(
  { approvalId, decision, by, reason }: ApprovalAnswered,
  filter: SecretFilter,
): RunEventBody<"exec.approval_resolved"> {
  return {
    approvalId: sayable(approvalId),
    decision,
    ...(by !== undefined && { by: filter.text(by) }),
    ...(reason !== undefined && { reason: filter.text(reason) }),
  };
}

/**
 * Replaces lone surrogates, which clients cannot send back. They and the replacement character
 * become a replacement character with a number, so that different ids stay different.
 */
function sayable(id: string): string {
  const number = (half: string): string => half.charCodeAt(0).toString(16);
  return id.replaceAll(/\p{Surrogate}|\ufffd/gu, (half) => `\ufffd${number(half)}`);
}
