/** Applies an agent's event to the conversation's state. */
import {
  billedUsage,
  type AgentEvent,
  type AssistantMessage,
  type AssistantMessageEvent,
} from "@bowline/core";
import type { Block } from "./block.ts";
import { blocksOfEnd, contextOf, userBlock } from "./message-blocks.ts";
import { callEnd, newCall, progress, unstarted } from "./reduce-calls.ts";
import { TAIL_CHARACTERS, type ChatState, type LiveAnswer, type Step } from "./state.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

export function reduceEvent(state: ChatState, event: AgentEvent, now: number): Step {
  if (event.parentRunId !== undefined) return nested(state, event, now);
  switch (event.type) {
    case "agent_start":
      return step({ ...state, phase: "working", startedAt: now, calls: [], settled: [] });
    case "turn_start":
      return step({ ...state, answer: newAnswer(now) });
    case "message_start":
      return step(state);
    case "message_update":
      return update(state, event.assistantMessageEvent, now);
    case "message_end":
      return messageEnd(state, event, now);
    case "tool_execution_start":
      return step({ ...state, calls: [...state.calls, newCall(event, now)] });
    case "tool_execution_update":
      return progress(state, event);
    case "tool_execution_end":
      return callEnd(state, event);
    case "request_retry": {
      const { attempt, delayMs, error } = event;
      const answer = state.answer ?? newAnswer(now);
      const retry = { attempt, until: now + delayMs, error };
      return step({ ...state, answer: { ...answer, retry } }, [
        { type: "retry", attempt, delayMs, error },
      ]);
    }
    case "model_failover": {
      const { from, to, error } = event;
      const names = {
        from: `${from.provider}/${from.model}`,
        to: `${to.provider}/${to.model}`,
      };
      return step(state, [{ type: "failover", ...names, error }]);
    }
    case "compaction_start":
      return step({ ...state, compacting: { since: now, before: event.tokensBefore } });
    case "compaction_end":
      return compactionEnd(state, event);
    case "approval_request":
      return step(state); // the conversation adds what the permissions say, as an action
    case "approval_answer":
      return answered(state, event, now);
    case "turn_end":
      return step({ ...without(state, "answer") });
    case "agent_end":
      return agentEnd(state, event, now);
  }
}

function step(state: ChatState, blocks: readonly Block[] = []): Step {
  return { state, blocks };
}

function without(state: ChatState, ...keys: Passing[]): ChatState {
  const rest = { ...state };
  for (const key of keys) delete rest[key];
  return rest;
}

type Passing = "answer" | "compacting" | "startedAt";

function newAnswer(since: number): LiveAnswer {
  return { since, thinking: "", words: 0, isThinking: false };
}

function update(state: ChatState, event: AssistantMessageEvent, now: number): Step {
  const { retry: _, ...answer } = state.answer ?? newAnswer(now);
  const { writing: __, ...still } = answer;
  const next = (changed: LiveAnswer): ChatState => ({ ...state, answer: changed });
  switch (event.type) {
    case "text_delta":
      return step(next({ ...still, isThinking: false }), [{ type: "text", delta: event.delta }]);
    case "text_end":
      return step(next(still), [{ type: "text_end" }]);
    case "thinking_start":
      return step(next({ ...still, thinking: "", words: 0, isThinking: true }));
    case "thinking_delta": {
      const thinking = still.thinking + event.delta;
      const words = still.words + wordsAdded(still.thinking, event.delta);
      return step(next({ ...still, thinking: thinking.slice(-TAIL_CHARACTERS), words }));
    }
    case "thinking_end": {
      const words = event.content.split(/\s+/).filter((word) => word !== "").length;
      return step(next({ ...still, thinking: "", words: 0, isThinking: false }), [
        { type: "thought", words },
      ]);
    }
    case "toolcall_start":
      return step(next({ ...still, isThinking: false, writing: { name: event.name, bytes: 0 } }));
    case "toolcall_delta": {
      const { writing } = answer;
      if (writing === undefined) return step(state);
      const bytes = writing.bytes + event.delta.length;
      return step(next({ ...still, writing: { ...writing, bytes } }));
    }
    case "message_retract":
      return step(next(newAnswer(now)), [
        { type: "text_end" },
        { type: "notice", level: "warning", text: "Cut off here; the answer starts again." },
      ]);
    case "start":
    case "text_start":
    case "toolcall_end":
    case "opaque_end":
    case "part_end":
    case "provider_tool":
    case "request_retry":
    case "model_failover":
    case "done":
    case "error":
      return step(next(answer));
  }
}

/** Counts the words that begin in `delta`. */
function wordsAdded(before: string, delta: string): number {
  const begun = delta.match(/\S+/g)?.length ?? 0;
  return /\S$/.test(before) && /^\S/.test(delta) ? Math.max(0, begun - 1) : begun;
}

function messageEnd(state: ChatState, { message }: EventOf<"message_end">, now: number): Step {
  if (message.role === "user") return step(state, [userBlock(message)]);
  if (message.role !== "assistant") return step(state);
  return step(
    { ...withRequest(state, message), ...(state.answer && { answer: newAnswer(now) }) },
    blocksOfEnd(message, now),
  );
}

/** Counts a request's cost and the size of the context after it. */
function withRequest(state: ChatState, message: AssistantMessage): ChatState {
  const { cost } = billedUsage(message);
  const contextTokens = contextOf(message);
  return {
    ...state,
    requests: state.requests + 1,
    cost: state.cost + (cost?.total ?? 0),
    isCostUnknown: state.isCostUnknown || cost === undefined,
    ...(contextTokens !== undefined && { contextTokens }),
  };
}

function compactionEnd(state: ChatState, event: EventOf<"compaction_end">): Step {
  const { tokensBefore: before, tokensAfter: after, outcome, usage, error } = event;
  const isRequest = Object.keys(usage).length > 0;
  return step(
    {
      ...without(state, "compacting"),
      contextTokens: after,
      cost: state.cost + (usage.cost?.total ?? 0),
      isCostUnknown: state.isCostUnknown || (isRequest && usage.cost === undefined),
    },
    [{ type: "compaction", before, after, outcome, usage, ...(error && { error }) }],
  );
}

function answered(state: ChatState, event: EventOf<"approval_answer">, now: number): Step {
  const { approvalId, decision, by, reason } = event;
  const asked = state.asked.find((one) => one.approvalId === approvalId);
  return step(
    {
      ...state,
      asked: state.asked.filter((one) => one !== asked),
      // The clock of the call begins when it may run.
      calls: state.calls.map((call) =>
        call.id === asked?.toolCallId ? { ...call, startedAt: now } : call,
      ),
    },
    asked === undefined
      ? []
      : [
          {
            type: "answered",
            toolName: asked.toolName,
            decision,
            ...(by !== undefined && { by }),
            ...(reason !== undefined && { reason }),
          },
        ],
  );
}

function agentEnd(state: ChatState, event: EventOf<"agent_end">, now: number): Step {
  const { startedAt = now } = state;
  const rest = without(state, "answer", "compacting", "startedAt");
  const next: ChatState = {
    ...rest,
    phase: "idle",
    lastMs: now - startedAt,
    calls: [],
    settled: [],
    asked: [],
  };
  const { reason, error } = event;
  const notStarted = unstarted(event, state.settled);
  return step(next, [
    { type: "text_end" },
    ...notStarted,
    ...(reason === "done" ? [] : [{ type: "ended", reason, ...(error && { error }) } as const]),
  ]);
}

/** A sub-agent's events: its calls and requests are shown, its text is its tool's result. */
function nested(state: ChatState, event: AgentEvent, now: number): Step {
  switch (event.type) {
    case "tool_execution_start":
      return step({ ...state, calls: [...state.calls, newCall(event, now)] });
    case "tool_execution_update":
      return progress(state, event);
    case "tool_execution_end":
      return callEnd(state, event);
    case "approval_answer":
      return answered(state, event, now);
    case "request_retry": {
      const { attempt, delayMs, error } = event;
      return step(state, [{ type: "retry", attempt, delayMs, error }]);
    }
    case "message_end": {
      if (event.message.role !== "assistant") return step(state);
      const within = event.parentToolName ?? "sub-agent";
      const blocks = blocksOfEnd(event.message, now).flatMap((block) =>
        block.type === "request" ? [{ ...block, within }] : [],
      );
      const { contextTokens: _, ...counted } = withRequest(state, event.message);
      const { contextTokens } = state;
      return step({ ...counted, ...(contextTokens !== undefined && { contextTokens }) }, blocks);
    }
    case "compaction_end": {
      const { contextTokens } = state;
      const ended = compactionEnd(state, event);
      const { contextTokens: _, ...rest } = ended.state;
      return step({ ...rest, ...(contextTokens !== undefined && { contextTokens }) }, ended.blocks);
    }
    case "agent_start":
    case "agent_end":
    case "turn_start":
    case "turn_end":
    case "message_start":
    case "message_update":
    case "model_failover":
    case "compaction_start":
    case "approval_request":
      return step(state);
  }
}
