/** The default `convertToLlm`. */
import { isLlmMessage, type Message } from "../llm/message.ts";
import type { AgentMessage } from "./event.ts";

/**
 * Keeps what a model understands. A list that grows, as a run's does, is looked through once, so that a turn costs the same
 * however many came before.
 */
export function createLlmFilter(): (messages: AgentMessage[]) => Message[] {
  let known: readonly AgentMessage[] = [];
  let understood = 0;
  return (messages) => {
    if (messages !== known || messages.length < understood) understood = 0;
    known = messages;
    while (understood < messages.length && isLlmMessage(messages[understood] as Message)) understood++;
    return understood === messages.length ? messages.slice() : messages.filter(isLlmMessage);
  };
}
