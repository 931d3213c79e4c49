/** Names of a tool call in events, in records and for idempotency. */
import type { ToolCall } from "../../llm/message.ts";
import type { Run } from "./run.ts";

export function stepOf(run: Run, call: Pick<ToolCall, "id">): string {
  return `tool:${run.turns}:${call.id}`;
}

/**
 * Returns the idempotency key, unique among all calls of all runs. It includes the turn, because
 * servers reuse call ids in later turns.
 */
// Q041
export function keyOf(run: Run, call: ToolCall): string {
  return `${run.id}:${run.turns}:${call.id}`;
}

/** Returns the fields that identify a call in events and records. */
export function namesOf({ id, name }: ToolCall): {
  readonly toolCallId: string;
  readonly toolName: string;
} {
  return { toolCallId: id, toolName: name };
}
