import type { AgentMessage } from "../contract/agent-message.ts";
import type { AgentEventBody } from "../contract/event.ts";

/**
 * Returns the event with the message of the transcript that it names, because listeners compare
 * messages by identity.
 */
export function relinked(event: AgentEventBody, messages: readonly AgentMessage[]): AgentEventBody {
  if (event.type !== "compaction_end") return event;
  const own = messages[event.firstKeptIndex];
  const isSame = own !== undefined && JSON.stringify(own) === JSON.stringify(event.firstKept);
  return isSame ? { ...event, firstKept: own } : event;
}
