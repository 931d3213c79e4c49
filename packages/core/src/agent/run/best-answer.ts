import { messageText } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";
import type { RunResult } from "./run-result.ts";

/**
 * Returns the answer of a run and its text, or undefined without an answer. For a run that was cut
 * short, prefers the last answer with text over a later one with only tool calls.
 */
export function bestAnswer(
  messages: readonly AgentMessage[],
  reason: RunEndReason,
): Pick<RunResult, "message" | "text"> | undefined {
  const answers = messages.filter((message) => message.role === "assistant");
  const said = reason === "done" ? undefined : answers.findLast((answer) => messageText(answer));
  const message = said ?? answers.findLast(({ content }) => content.length > 0) ?? answers.at(-1);
  if (message === undefined) return undefined;
  // A vendor's tool may pause an answer. The next one continues it.
  const last = answers.indexOf(message);
  const first = answers.slice(0, last).findLastIndex(({ paused }) => paused !== true) + 1;
  return {
    message,
    text: answers
      .slice(first, last + 1)
      .map((answer) => messageText(answer))
      .join(""),
  };
}
