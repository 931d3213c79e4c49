/** Checks whether a run can continue from a transcript. */
import { BowlineError } from "../../errors.ts";
import { isCut } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/** Throws `invalid_state` unless a run can continue from these messages. */
export function assertContinuable(messages: readonly AgentMessage[]): void {
  const last = messages.at(-1);
  if (last && !isAnswer(last)) return;
  throw new BowlineError(
    "invalid_state",
    `Cannot continue: ${last ? "the last message is a complete answer" : "there are no messages"}.`,
  );
}

/**
 * Returns whether a message is a complete answer. After a failed or aborted answer the model is
 * called again.
 */
export function isAnswer(message: AgentMessage): boolean {
  return message.role === "assistant" && !isCut(message);
}
