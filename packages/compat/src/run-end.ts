/** The end of a run, for shapes that return or throw one value. */
import type { AgentEvent } from "@bowline/core/agent";
import { type ErrorInfo, toolCallsOf } from "@bowline/core";

export type RunEnd = Extract<AgentEvent, { type: "agent_end" }>;

/** Reads a run to its last event. */
export async function runToEnd(events: AsyncIterable<AgentEvent>): Promise<RunEnd> {
  let last: AgentEvent | undefined;
  for await (const event of events) last = event;
  return last as RunEnd;
}

/**
 * Returns why the run has no answer: its error, or that a token limit cut the calls of every answer
 * until the loop gave up.
 */
export function failureOf({ error, reason, messages }: RunEnd): ErrorInfo | undefined {
  const last = messages.findLast((message) => message.role === "assistant");
  if (reason !== "length" || last === undefined || toolCallsOf(last).length === 0) return error;
  return {
    code: "budget_exceeded",
    message: "A token limit cut the calls of each answer.",
    retryable: false,
  };
}
