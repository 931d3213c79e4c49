/** The default `convertToLlm`. */
import { isLlmMessage, type Message } from "../llm/message.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

/**
 * Creates a filter that keeps the messages a model understands. It checks only the new messages of
 * a list that grows, so the cost of a turn does not grow with the transcript. It checks the whole
 * list again when the last message it knew has changed place.
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
