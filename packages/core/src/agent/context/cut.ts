/** Finds where a transcript may be cut: never between a tool call and its result. */
import { toolCallsOf, type UserMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/**
 * Returns the indexes after `from`, in order, at which no later result belongs to an earlier call.
 * A result belongs to the latest unanswered call with its id, as in requests. Runs in linear time.
 */
export function cutPoints(messages: readonly AgentMessage[], from = 0): number[] {
  /** The index of a call's message and that of its last result. */
  const lastOfPair = new Map<number, number>();
  const open = new Map<string, number[]>();
  for (let index = from; index < messages.length; index++) {
    const message = messages[index] as AgentMessage;
    if (message.role === "toolResult") {
      const call = open.get(message.toolCallId)?.shift();
      if (call !== undefined) lastOfPair.set(call, index);
    } else if (message.role === "assistant") {
      const calls = toolCallsOf(message);
      for (const { id } of calls) open.set(id, []);
      for (const { id } of calls) open.get(id)?.push(index);
    }
  }
  const points: number[] = [];
  let reach = from;
  for (let index = from; index < messages.length; index++) {
    if (index > reach) points.push(index);
    reach = Math.max(reach, lastOfPair.get(index) ?? index);
  }
  return points;
}

/** Returns the last point at or before `index`, or `otherwise` if there is none. */
export function lastPointUpTo(points: readonly number[], index: number, otherwise: number): number {
  return points.findLast((point) => point <= index) ?? otherwise;
}

/** The beginning of the message that carries a summary. */
export const SUMMARY_LEAD_IN = "Earlier messages were replaced by this summary to save space:";

/**
 * Returns the index of the last user message, which every request keeps, or -1. A stored summary
 * does not count as a user message.
 */
export function lastUserIndex(messages: readonly AgentMessage[]): number {
  return messages.findLastIndex(
    (message) => message.role === "user" && !isSummary(message.content),
  );
}

function isSummary(content: UserMessage["content"]): boolean {
  return typeof content === "string" && content.startsWith(SUMMARY_LEAD_IN);
}
