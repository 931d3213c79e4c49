/** How a tool call is named, in events, in records and to servers. */
import type { ToolCall } from "../../llm/message.ts";
import type { Run } from "./run.ts";

export function stepOf(run: Run, call: Pick<ToolCall, "id">): string {
  return `tool:${run.turns}:${call.id}`;
}

/**
 * Names a call among all calls of all runs. Servers reuse call ids from turn to turn, so the
 * turn is part of it.
 */
// Q041
export function keyOf(run: Run, call: ToolCall): string {
  return `${run.id}:${run.turns}:${call.id}`;
}

/** How events and records name a call. */
export function namesOf({ id, name }: ToolCall): {
  readonly toolCallId: string;
  readonly toolName: string;
} {
  return { toolCallId: id, toolName: name };
}
