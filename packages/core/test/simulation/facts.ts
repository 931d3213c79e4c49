/**
 * Facts that a simulation observes itself, independent of the agent's events, and its record of a
 * run for comparison.
 */
import type { AgentEvent, AgentMessage } from "../../src/agent/index.ts";
import { reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import { toolCallsOf, type AssistantMessage, type ToolCall } from "../../src/llm/message.ts";
import type { ErrorInfo } from "../../src/errors.ts";
import type { EventOrder } from "./order.ts";

/** One call of the stream function. */
export interface CallFacts {
  readonly tag: string;
  /** The number of the call, counted from 0 for each agent. */
  readonly number: number;
  readonly signal: AbortSignal | undefined;
  /** The emitted events, each as JSON. */
  readonly delivered: string[];
  /** The delivered events that are emitted as updates. */
  readonly updates: string[];
  /** The call's terminal event, if there was one. */
  ended?: "done" | "error";
  /** The error that the stream reported. */
  said?: ErrorInfo;
  /** The value that it threw. */
  failure?: unknown;
  folded?: { readonly events: number; readonly message: AssistantMessage | undefined };
  /** Whether it ran to its end or was stopped. */
  closed: boolean;
  readonly executions: Map<string, ExecutionFacts>;
  /** Calls that a hook prevented from running. */
  readonly kept: Set<string>;
  /** Calls whose arguments a hook replaced. */
  readonly edited: Set<string>;
}

/** One execution of a tool. */
export interface ExecutionFacts {
  readonly signal: AbortSignal;
  /** True once the tool has yielded. Only then can it see an abort from its first steps. */
  hasBegun: boolean;
  settled?: "returned" | "threw";
}

export type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** A message, with its JSON at the time it was recorded. */
export interface Recorded {
  readonly message: AgentMessage;
  readonly json: string;
}

/** The record of one run. */
export interface RunRecord {
  readonly order: EventOrder;
  readonly startedAt: number;
  /** The run has an output schema. */
  isForOutput: boolean;
  /** The number of answers that the transcript already contained. */
  readonly answersBefore: number;
  /** Model calls by the index of their answer among all answers of the transcript. */
  readonly calls: Map<number, CallFacts>;
  readonly messages: Recorded[];
  /** Runs that its tools started. */
  readonly nested: RunRecord[];
  answers: number;
  turnEnds: number;
  /** The first event of the answer being received and those that followed, as JSON. */
  updates: string[];
  /** The end events of the current turn's tools, by call. */
  readonly toolEnds: Map<string, EventOf<"tool_execution_end">>;
  /** Calls of the current turn whose results ask to end the run. */
  readonly terminating: Set<string>;
  lastTurn?: EventOf<"turn_end">;
  lastAnswer?: AssistantMessage;
  end?: EventOf<"agent_end">;
  abort?: { readonly at: number; readonly turnEnds: number; readonly isStreamOver: boolean };
  /** The step that could not be recorded, which stops the run. */
  failedStep?: string;
  /** A hook asked the run to stop. */
  stopAsked: boolean;
  /** The number of messages taken from each queue in the current turn. */
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

/**
 * The message that a model call has emitted so far; the same object until there are more events.
 */
export function messageOf(call: CallFacts): AssistantMessage | undefined {
  if (call.folded?.events !== call.delivered.length) {
    call.folded = { events: call.delivered.length, message: fold(call.delivered) };
  }
  return call.folded.message;
}

/** The model call of the next answer, or with offset -1 of the last one. */
export function callOf(run: RunRecord, offset: 0 | -1 = 0): CallFacts | undefined {
  return run.calls.get(run.answersBefore + run.answers + offset);
}

/** The call as the model wrote it. */
export function findCall(message: AssistantMessage | undefined, id: string): ToolCall | undefined {
  return message === undefined ? undefined : toolCallsOf(message).find((call) => call.id === id);
}
