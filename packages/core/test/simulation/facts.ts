/**
 * What a world saw itself, apart from what events say, and what it keeps of a run to compare the
 * two.
 */
import type { AgentEvent, AgentMessage } from "../../src/agent/index.ts";
import { reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import { toolCallsOf, type AssistantMessage, type ToolCall } from "../../src/llm/message.ts";
import type { ErrorInfo } from "../../src/errors.ts";
import type { EventOrder } from "./order.ts";

/** One call of the stream function. */
export interface CallFacts {
  readonly tag: string;
  /** Counts the agent's calls, from 0. */
  readonly number: number;
  readonly signal: AbortSignal | undefined;
  /** The events it handed over, each as JSON. */
  readonly delivered: string[];
  /** Those of them that go out as updates. */
  readonly updates: string[];
  /** Its terminal event, if it had one. */
  ended?: "done" | "error";
  /** What it said that went wrong, at the source. */
  said?: ErrorInfo;
  /** What it threw. */
  failure?: unknown;
  folded?: { readonly events: number; readonly message: AssistantMessage | undefined };
  /** Whether it ran to its end, or was told to go. */
  closed: boolean;
  readonly executions: Map<string, ExecutionFacts>;
  /** Calls that a hook kept from running. */
  readonly kept: Set<string>;
  /** Calls whose arguments a hook has replaced. */
  readonly edited: Set<string>;
}

/** One execution of a tool. */
export interface ExecutionFacts {
  readonly signal: AbortSignal;
  /** It has let others run: an abort from within its first steps is heard only then. */
  hasBegun: boolean;
  settled?: "returned" | "threw";
}

export type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** A message with what it was when it was recorded. */
export interface Recorded {
  readonly message: AgentMessage;
  readonly json: string;
}

/** What is known of one run. */
export interface RunRecord {
  readonly order: EventOrder;
  readonly startedAt: number;
  /** It was asked for a value. */
  isForOutput: boolean;
  /** Answers that the transcript held before. */
  readonly answersBefore: number;
  /** Model calls by the place of their answer among all answers of the transcript. */
  readonly calls: Map<number, CallFacts>;
  readonly messages: Recorded[];
  /** Runs that its tools have started. */
  readonly nested: RunRecord[];
  answers: number;
  turnEnds: number;
  /** Of the answer that is being received: its first event and those that followed, as JSON. */
  updates: string[];
  /** Ends of the current turn's tools, by call. */
  readonly toolEnds: Map<string, EventOf<"tool_execution_end">>;
  /** Calls of the current turn whose results asked to end the run. */
  readonly terminating: Set<string>;
  lastTurn?: EventOf<"turn_end">;
  lastAnswer?: AssistantMessage;
  end?: EventOf<"agent_end">;
  abort?: { readonly at: number; readonly turnEnds: number; readonly isStreamOver: boolean };
  /** The step that could not be recorded: the run stops. */
  failedStep?: string;
  /** A hook told the run to stop. */
  stopAsked: boolean;
  /** Messages of each queue in the current turn. */
  taken: { steering: number; followUp: number };
}

export function newRun(
  order: EventOrder,
  startedAt: number,
  history: readonly AgentMessage[],
): RunRecord {
  return {
    order,
    startedAt,
    isForOutput: false,
    answersBefore: history.filter(({ role }) => role === "assistant").length,
    calls: new Map(),
    messages: [],
    nested: [],
    answers: 0,
    turnEnds: 0,
    updates: [],
    toolEnds: new Map(),
    terminating: new Set(),
    stopAsked: false,
    taken: { steering: 0, followUp: 0 },
  };
}

/** The message that recorded events add up to. */
export function fold(events: readonly string[]): AssistantMessage | undefined {
  return reduceEvents(events.map((json) => JSON.parse(json) as AssistantMessageEvent));
}

/** The message that a model call has said so far; the same object until it says more. */
export function messageOf(call: CallFacts): AssistantMessage | undefined {
  if (call.folded?.events !== call.delivered.length) {
    call.folded = { events: call.delivered.length, message: fold(call.delivered) };
  }
  return call.folded.message;
}

/** The model call of the answer that comes next, or of the last one. */
export function callOf(run: RunRecord, offset: 0 | -1 = 0): CallFacts | undefined {
  return run.calls.get(run.answersBefore + run.answers + offset);
}

/** The call as the model made it. */
export function findCall(message: AssistantMessage | undefined, id: string): ToolCall | undefined {
  return message === undefined ? undefined : toolCallsOf(message).find((call) => call.id === id);
}
