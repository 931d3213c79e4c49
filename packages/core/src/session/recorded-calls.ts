/**
 * What is known of tool calls that an earlier process began, as the loop and the model are told it.
 */
import { textResult, type SettledCall } from "../agent/contract/tool-result.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { openCalls } from "../agent/run/execute.ts";
import type { BowlineError } from "../errors.ts";
import { defined, describe, jsonText } from "../json-value.ts";
import type { ToolResultMessage } from "../llm/message.ts";
import type { EntryBody } from "./entry.ts";
import type { RecordedCall, RunState } from "./session-state.ts";

/** What the call came to; undefined when it may be run again. */
export function outcomeOf({ intent, result }: RecordedCall): SettledCall | undefined {
  if (result !== undefined) return result.result as SettledCall;
  return intent.replay === "safe" ? undefined : unknown(intent);
}

/** Results for the calls of the last answer that have none, when their run is not gone on with. */
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
      call === undefined ? notRun : (outcomeOf(call) ?? unknown(call.intent));
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

const notRun = { result: textResult("Not run: the process ended before."), isError: true };

function unknown({
  toolName,
  idempotencyKey,
}: Extract<EntryBody, { type: "tool_intent" }>): SettledCall {
  const text = `The process ended while ${toolName} ran. It is not known whether the call took effect, and it was not run again. Its idempotency key is ${idempotencyKey}.`;
  return { result: textResult(text), isError: true, outcome: "unknown", durationMs: 0 };
}

/** What a tool gave that no file can hold: the model is told that it ran. */
export function unwritable(
  { durationMs }: SettledCall,
  { cause, message }: BowlineError,
): SettledCall {
  const why = cause instanceof Error ? cause.message : message;
  const text = `The tool ran, and its result is lost: it is no JSON and could not be kept. ${why}`;
  return { result: textResult(text), isError: true, outcome: "failed", durationMs };
}

/** A value as JSON can say it; what it cannot is said in words. */
export function inJson(value: unknown): unknown {
  try {
    const text = jsonText(value);
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch {
    return describe(value);
  }
}
