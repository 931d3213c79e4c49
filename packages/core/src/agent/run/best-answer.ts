import { messageText } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";
import type { RunResult } from "./run-result.ts";

/**
 * The answer of a result and its text. What a run that was cut short had said is better than the
 * calls it still wanted to make. Undefined where there was no answer.
 */
export function bestAnswer(
  messages: readonly AgentMessage[],
  reason: RunEndReason,
): Pick<RunResult, "message" | "text"> | undefined {
  const answers = messages.filter((message) => message.role === "assistant");
  const said = reason === "done" ? undefined : answers.findLast((answer) => messageText(answer));
  const message = said ?? answers.findLast(({ content }) => content.length > 0) ?? answers.at(-1);
  return message && { message, text: messageText(message) };
}
