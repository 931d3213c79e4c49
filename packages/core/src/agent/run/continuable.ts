/** Whether a run can go on from a transcript. */
import { BowlineError } from "../../errors.ts";
import { isCut } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/** Throws `invalid_state` unless a run can go on from these messages. */
export function assertContinuable(messages: readonly AgentMessage[]): void {
  const last = messages.at(-1);
  if (last && !isAnswer(last)) return;
  throw new BowlineError(
    "invalid_state",
    `Cannot continue from ${last ? "an assistant message" : "no messages"}.`,
  );
}

/**
 * Whether it is an answer: one that failed or was aborted is none, and the model is asked again.
 */
export function isAnswer(message: AgentMessage): boolean {
  return message.role === "assistant" && !isCut(message);
}
