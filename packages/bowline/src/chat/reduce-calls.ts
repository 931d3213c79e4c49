/** Applies the events of tool calls to the conversation's state. */
import { messageText, type AgentEvent } from "@bowline/core";
import type { Block, ToolBlock } from "./block.ts";
import { TAIL_CHARACTERS, type ChatState, type Step } from "./state.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

export function newCall(
  event: EventOf<"tool_execution_start">,
  now: number,
): ChatState["calls"][number] {
  const { toolCallId: id, toolName: name, args, parentToolName } = event;
  const call = { id, name, args, startedAt: now, tail: "", bytes: 0 };
  return parentToolName === undefined ? call : { ...call, within: parentToolName };
}

export function progress(state: ChatState, event: EventOf<"tool_execution_update">): Step {
  const text = messageText({ content: event.partialResult.content ?? [] });
  const calls = state.calls.map((call) =>
    call.id === event.toolCallId
      ? { ...call, tail: text.slice(-TAIL_CHARACTERS), bytes: Math.max(call.bytes, text.length) }
      : call,
  );
  return { state: { ...state, calls }, blocks: [] };
}

export function callEnd(state: ChatState, event: EventOf<"tool_execution_end">): Step {
  const { toolCallId, toolName: name, result, isError, outcome, durationMs: ms } = event;
  const call = state.calls.find(({ id }) => id === toolCallId);
  const block: ToolBlock = {
    type: "tool",
    name,
    args: call?.args ?? {},
    outcome,
    isError,
    ms,
    text: messageText({ content: result.content }),
    ...(result.details !== undefined && { details: result.details }),
    ...(event.parentToolName !== undefined && { within: event.parentToolName }),
  };
  return {
    state: {
      ...state,
      calls: state.calls.filter(({ id }) => id !== toolCallId),
      settled: [...state.settled, toolCallId],
    },
    blocks: [block],
  };
}

/** Returns blocks of calls that the last answer wrote and that never began. */
export function unstarted({ messages }: EventOf<"agent_end">, settled: readonly string[]): Block[] {
  const last = messages.findLast((message) => message.role === "assistant");
  if (last === undefined) return [];
  const isAnswered = (id: string): boolean =>
    settled.includes(id) ||
    messages.some((message) => message.role === "toolResult" && message.toolCallId === id);
  return last.content.flatMap((part) =>
    part.type !== "toolCall" || isAnswered(part.id)
      ? []
      : [
          {
            type: "tool" as const,
            name: part.name,
            args: part.arguments,
            outcome: "not_started" as const,
            isError: true,
            ms: 0,
            text: "",
          },
        ],
  );
}
