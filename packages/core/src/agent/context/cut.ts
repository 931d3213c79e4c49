/** Where a transcript may be cut in two: never between a tool call and its result. */
import { toolCallsOf, type UserMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/**
 * The indexes after `from` at which no later result answers an earlier call, in order. A result
 * belongs to the latest call before it under its id that has none yet, as in requests. Linear.
 */
export function cutPoints(messages: readonly AgentMessage[], from = 0): number[] {
  /** The index up to which the pairs that were opened so far reach. */
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

/** The last point at or before `index`; `otherwise` when there is none. */
export function lastPointUpTo(points: readonly number[], index: number, otherwise: number): number {
  return points.findLast((point) => point <= index) ?? otherwise;
}

/** How the message begins that stands for what was summarised. */
export const SUMMARY_LEAD_IN = "Earlier messages were replaced by this summary to save space:";

/**
 * The last message of the user's, which every request keeps; a summary that was kept is none. -1
 * when there is none.
 */
export function lastUserIndex(messages: readonly AgentMessage[]): number {
  return messages.findLastIndex(
    (message) => message.role === "user" && !isSummary(message.content),
  );
}

function isSummary(content: UserMessage["content"]): boolean {
  return typeof content === "string" && content.startsWith(SUMMARY_LEAD_IN);
}
