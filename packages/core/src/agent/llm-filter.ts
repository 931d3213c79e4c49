/** The default `convertToLlm`. */
import { isLlmMessage, type Message } from "../llm/message.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

/**
 * Keeps what a model understands. A list that grows, as a run's does, is looked through once, so
 * that a turn costs the same however many came before; one that was cut, as far as the cut shows in
 * its last known message, once more.
 */
export function createLlmFilter(): (messages: AgentMessage[]) => Message[] {
  let known: readonly AgentMessage[] = [];
  let last: AgentMessage | undefined;
  let understood = 0;
  return (messages) => {
    if (messages !== known || messages[understood - 1] !== last) understood = 0;
    known = messages;
    while (understood < messages.length && isLlmMessage(messages[understood] as Message))
      understood++;
    last = messages[understood - 1];
    return understood === messages.length ? messages.slice() : messages.filter(isLlmMessage);
  };
}
