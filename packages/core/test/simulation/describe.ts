/** The names of events in a census, and their lines in a trace. */
import type { AgentEvent } from "../../src/agent/index.ts";

export function namesOf(event: AgentEvent): string[] {
  const { type } = event;
  if (type === "agent_end") {
    return [
      `${type} ${event.reason}`,
      ...(event.error === undefined ? [] : [`error ${event.error.code}`]),
    ];
  }
  if (type === "tool_execution_end") return [`${type} ${event.outcome}`];
  if (type === "message_end" && event.message.role === "assistant")
    return [`answer ${event.message.stopReason}`];
  return [type];
}

export function describe({ runId, seq, ...event }: AgentEvent): string {
  const update = event.type === "message_update" ? { event: event.assistantMessageEvent } : {};
  return `${runId}#${seq} ${JSON.stringify({ ...event, ...update, assistantMessageEvent: undefined })}`;
}
