import { messageText, type AssistantMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";

/** What a run that was cut short had said is better than the calls it still wanted to make. */
export function bestAnswer(
  messages: readonly AgentMessage[],
  reason: RunEndReason,
): AssistantMessage | undefined {
  const answers = messages.filter((message) => message.role === "assistant");
  const said = reason === "done" ? undefined : answers.findLast((answer) => messageText(answer));
  return said ?? answers.findLast(({ content }) => content.length > 0) ?? answers.at(-1);
}
