/** What the world outside the cluster has seen: every model call and every use of a tool. */

interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** One request to the model's server. */
export interface ModelCall {
  /** From 1, over all calls. Its answer says it. */
  readonly number: number;
  /** The name of the task that it answers. */
  readonly task: string;
  /** The number of the answer to the task, from 0. */
  readonly turn: number;
  /** The whole text that it answers. */
  readonly text: string;
  /** The tools that it calls. */
  readonly calls: readonly string[];
  /** Reported with the answer. Absent for a server that reports none. */
  readonly tokens?: Tokens;
  /** Answers in the request, by the number of the call that made them. */
  readonly seenAnswers: readonly SeenAnswer[];
  /** Results of tools in the request, by the id of the call. */
  readonly seenResults: ReadonlyMap<string, string>;
  /** What is wrong with the request. */
  readonly problems: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  endedAt?: number;
  /** `cut`: the connection was closed before the end. */
  state: "streaming" | "whole" | "cut";
}

export interface SeenAnswer {
  readonly number: number;
  readonly text: string;
}

/** One request of a tool. Its effect counts from its start. */
export interface ToolUse {
  readonly name: string;
  readonly toolCallId: string;
  /** The idempotency key that the tool was given. */
  readonly key: string;
  /** The worker's process. */
  readonly pid: number;
  readonly startedAt: number;
  endedAt?: number;
}

export interface Ledger {
  readonly models: ModelCall[];
  readonly tools: ToolUse[];
}

/** The number of the call in the beginning of an answer. Undefined for another text. */
export function numberIn(text: string): number | undefined {
  const number = /^\[(\d+)\]/.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The id of a tool's call: the number of the model's call, and the place in its answer. */
export function toolCallId(number: number, index: number): string {
  return `call_${number}_${index}`;
}

/** The text of a tool's result without the filling of a large one. */
export function resultOf(name: string, id: string): string {
  return `${name} done ${id}.`;
}
