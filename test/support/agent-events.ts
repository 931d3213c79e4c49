/** Events of an agent's run, for tests of what follows runs. */
import type { AgentEvent, AssistantMessage } from "@bowline/core";

export function answer(text: string): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "x",
    provider: "p",
    model: "m",
    usage: {},
    stopReason: "stop",
    timestamp: 1,
  };
}

export function event(runId: string, body: object): AgentEvent {
  return { runId, seq: 0, ...body } as AgentEvent;
}

export function delta(runId: string, text: string): AgentEvent {
  return event(runId, {
    type: "message_update",
    message: answer(""),
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: text },
  });
}

export function answered(runId: string, text: string): AgentEvent {
  return event(runId, { type: "message_end", message: answer(text) });
}

export function ended(runId: string, reason = "done"): AgentEvent {
  return event(runId, { type: "agent_end", reason, usage: {}, messages: [] });
}

export function asked(runId: string, approvalId: string, args: object): AgentEvent {
  return event(runId, {
    type: "approval_request",
    approvalId,
    toolCallId: "c",
    toolName: "bash",
    args,
  });
}
