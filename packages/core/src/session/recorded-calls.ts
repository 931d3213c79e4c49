/** Outcomes of tool calls that an earlier process started, for the loop and the model. */
import type { ToolStepResult } from "../agent/contract/step.ts";
import { textResult, type SettledCall } from "../agent/contract/tool-result.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { openCalls } from "../agent/run/execute.ts";
import type { BowlineError } from "../errors.ts";
import { defined, describe, jsonText } from "../json-value.ts";
import type { ToolResultMessage } from "../llm/message.ts";
import type { RecordedCall, RunState } from "./session-state.ts";

/** Returns the outcome of the call, or undefined if it may run again. */
export function outcomeOf({ intent, result }: RecordedCall): ToolStepResult | undefined {
  if (result !== undefined) return result.result as ToolStepResult;
  return intent.replay === "safe" ? undefined : unknownOutcome(intent);
}

/** Returns results for the pending calls of the last answer, when their run is not resumed. */
export function unansweredResults(
  messages: readonly AgentMessage[],
  run: RunState | undefined,
  timestamp: number,
): ToolResultMessage[] {
  const answer = messages.findLast(({ role }) => role === "assistant");
  if (answer?.role !== "assistant") return [];
  return openCalls(answer, messages).map(({ id: toolCallId, name: toolName }) => {
    const call = run?.calls.get(`${run.runId}:${run.turns}:${toolCallId}`);
    const { result, isError } =
      call === undefined ? notRun : (outcomeOf(call) ?? unknownOutcome(call.intent));
    const { content, details } = result;
    return {
      role: "toolResult",
      toolCallId,
      toolName,
      content,
      ...defined({ details }),
      isError,
      timestamp,
    };
  });
}

const notRun = { result: textResult("Not run: the process ended first."), isError: true };

/**
 * Returns the result of a call that started in a process which ended, and that must not be repeated.
 */
export function unknownOutcome({
  toolName,
  idempotencyKey,
}: {
  readonly toolName: string;
  readonly idempotencyKey: string;
}): SettledCall {
  const text = `The process ended while ${toolName} ran. It is not known whether the call took effect, and it was not run again. Its idempotency key is ${idempotencyKey}.`;
  return { result: textResult(text), isError: true, outcome: "unknown", durationMs: 0 };
}

/**
 * Returns the result that replaces one that cannot be stored. It tells the model that the tool ran.
 */
export function unwritable(
  { durationMs, usage, nested }: ToolStepResult,
  { cause, message }: BowlineError,
): ToolStepResult {
  const why = cause instanceof Error ? cause.message : message;
  const text = `The tool ran, but its result is lost: it is not JSON and could not be stored. ${why}`;
  return {
    result: textResult(text),
    isError: true,
    outcome: "failed",
    durationMs,
    ...defined({ usage, nested }),
  };
}

/** Returns the value as JSON, or a description if JSON cannot represent it. */
export function inJson(value: unknown): unknown {
  try {
    const text = jsonText(value);
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch {
    return describe(value);
  }
}
