/** The events that a web page gets of a run by default: a fixed list without server-side data. */
import type { ErrorCode } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { AgentEvent, RunEndReason } from "../contract/event.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";

/**
 * A server-sent event of {@link AgentStream.toResponse}. Tool results, thinking, error messages and
 * the events of nested runs are not sent, except approvals of nested runs. Arguments are sent only
 * in approval requests.
 */
export type ResponseEvent =
  /** A piece of the answer's text. */
  | { readonly type: "text_delta"; readonly contentIndex: number; readonly delta: string }
  /** Discard the text from part `contentIndex` on. The answer continues from there. */
  | { readonly type: "message_retract"; readonly contentIndex: number }
  /** The model's answer is complete. The next answer begins at part 0. */
  | { readonly type: "message_end" }
  | {
      readonly type: "tool_execution_start";
      readonly toolCallId: string;
      readonly toolName: string;
    }
  | {
      readonly type: "tool_execution_end";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly outcome: ToolOutcome;
    }
  | {
      readonly type: "approval_request";
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      /** The exact arguments that the tool will receive. */
      readonly args: unknown;
      readonly reason?: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt?: number;
    }
  | {
      readonly type: "approval_answer";
      readonly approvalId: string;
      readonly decision: "allow" | "deny" | "expired";
    }
  /** The model's server failed, and the request will be retried after `delayMs` milliseconds. */
  | {
      readonly type: "request_retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly code: ErrorCode;
    }
  /** The last event of a run. */
  | { readonly type: "agent_end"; readonly reason: RunEndReason; readonly code?: ErrorCode };

/** Returns the part of an event to send to a web page, or undefined to send nothing. */
export function toResponseEvent(event: AgentEvent): ResponseEvent | undefined {
  const isNested = event.parentRunId !== undefined;
  if (isNested && !event.type.startsWith("approval_")) return undefined;
  switch (event.type) {
    case "message_update":
      return ofAnswer(event);
    case "message_end":
      return event.message.role === "assistant" ? { type: "message_end" } : undefined;
    case "tool_execution_start": {
      const { type, toolCallId, toolName } = event;
      return { type, toolCallId, toolName };
    }
    case "tool_execution_end": {
      const { type, toolCallId, toolName, outcome } = event;
      return { type, toolCallId, toolName, outcome };
    }
    case "approval_request": {
      const { type, approvalId, toolCallId, toolName, args, reason, expiresAt } = event;
      return { type, approvalId, toolCallId, toolName, args, ...defined({ reason, expiresAt }) };
    }
    case "approval_answer": {
      const { type, approvalId, decision } = event;
      return { type, approvalId, decision };
    }
    case "request_retry": {
      const { type, attempt, delayMs, error } = event;
      return { type, attempt, delayMs, code: error.code };
    }
    case "agent_end": {
      const { type, reason, error } = event;
      return { type, reason, ...(error && { code: error.code }) };
    }
    case "agent_start":
    case "turn_start":
    case "turn_end":
    case "message_start":
    case "tool_execution_update":
    case "model_failover":
    case "compaction_start":
    case "compaction_end":
      return undefined;
  }
}

function ofAnswer({
  assistantMessageEvent: event,
}: Extract<AgentEvent, { type: "message_update" }>): ResponseEvent | undefined {
  if (event.type === "text_delta") {
    const { type, contentIndex, delta } = event;
    return { type, contentIndex, delta };
  }
  if (event.type !== "message_retract") return undefined;
  return { type: event.type, contentIndex: event.contentIndex };
}
