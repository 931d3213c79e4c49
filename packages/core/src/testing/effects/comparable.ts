/** Ends of runs without what may differ: times, and the results of calls that must not be repeated. */
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import { messageText, toolCallsOf } from "../../llm/message.ts";
import type { End } from "./scenario.ts";

/**
 * `lost`: ids of calls whose outcome may be unknown, because an attempt was stopped while they ran. `hasAll`:
 * whether the last attempt replayed all of the run.
 */
export function comparable(
  { result, messages }: End,
  lost: ReadonlySet<string>,
  hasAll: boolean,
): unknown {
  const { reason, text, output, turns, tools, usage, error } = result;
  return {
    reason,
    text,
    output,
    turns,
    // A run that continues from its transcript lists the calls since then, and was billed for lost ones.
    ...(hasAll && {
      usage,
      tools: tools.map(({ toolCallId, outcome }) => [
        toolCallId,
        lost.has(toolCallId) ? "unknown" : outcome,
      ]),
    }),
    error: error?.code,
    messages: messages.map((message) => shapeOf(message, lost)),
  };
}

function shapeOf(message: AgentMessage, lost: ReadonlySet<string>): unknown {
  const { role } = message;
  if (message.role === "toolResult") {
    const { toolCallId, isError } = message;
    return lost.has(toolCallId)
      ? [role, toolCallId, "unknown"]
      : [role, toolCallId, isError, messageText(message)];
  }
  if (message.role !== "assistant") return [role, messageText(message)];
  const calls = toolCallsOf(message).map(({ id, name, arguments: args }) => [id, name, args]);
  return [role, messageText(message), message.stopReason, calls];
}

/** Returns whether the names are among the others, in the same order. */
export function isSubsequence(names: readonly string[], others: readonly string[]): boolean {
  let at = 0;
  for (const name of names) {
    at = others.indexOf(name, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
