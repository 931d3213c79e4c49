/**
 * Everything that happens in a simulation, as JSON: what the models answer, what tools, hooks and
 * listeners do, and when aborts happen. A seed determines a plan, a plan determines a run, and a
 * smaller plan is a smaller simulation. Whatever is absent works normally.
 */
import type { AgentOptions } from "../../src/agent/index.ts";
import type { ErrorInfo } from "../../src/errors.ts";
import type { Usage } from "../../src/llm/usage.ts";

export interface Plan {
  readonly seed: number;
  /** Requests are encoded for this wire and checked by its strict validator. Absent: no check. */
  readonly wire?: "openai-chat" | "anthropic-messages";
  /** One agent, or two that must not affect each other. */
  readonly agents: readonly AgentPlan[];
}

export interface AgentPlan {
  /** The stateful agent, or `agentLoop` and `agentLoopContinue`. */
  readonly face: "agent" | "loop";
  /** Passed on unchanged. */
  readonly settings: Settings;
  /** All runs of the agent share one budget, instead of one for each run. */
  readonly sharesBudget?: boolean;
  /** The clock has a `yield`. */
  readonly yields?: boolean;
  readonly tools: readonly ToolPlan[];
  /** The model's answers in the order of its calls; after them it answers one line. */
  readonly answers: readonly AnswerPlan[];
  readonly starts: readonly StartPlan[];
  readonly actions: readonly ActionPlan[];
  readonly hooks: readonly HookPlan[];
  readonly listeners: readonly ListenerPlan[];
  /** The agent's steps are recorded, immediately except for these. Only for the agent. */
  readonly steps?: readonly StepPlan[];
  /** How the stream of `agentLoop` is read. */
  readonly reader?: ReaderPlan;
}

export type Settings = Pick<
  AgentOptions,
  | "toolExecution"
  | "abortGraceMs"
  | "hookTimeoutMs"
  | "toolTimeoutMs"
  | "budget"
  | "steeringMode"
  | "followUpMode"
  | "maxParallelTools"
  | "skipToolsOnSteering"
>;

/**
 * One use of the agent, which begins `wait` after the previous one has settled. `retry` drops a
 * failed answer and continues.
 */
export interface StartPlan {
  readonly kind: "prompt" | "continue" | "retry" | "reset";
  readonly wait?: number;
  /**
   * The number of messages of a prompt; if there are several, one is a custom message. Default 1.
   */
  readonly messages?: number;
  /** Requires an output of the tools' schema. Only for the agent. */
  readonly output?: boolean;
  /** The signal is aborted before the run begins. Only for the loop. */
  readonly aborted?: boolean;
}

/**
 * An action from outside at a moment: after a number of ms, or at the nth event, request, tool
 * execution or hook with a plan.
 */
export interface ActionPlan {
  readonly does: "abort" | "steer" | "followUp" | "prompt" | "waitForIdle" | "reset" | "clear";
  readonly on: "time" | "event" | "request" | "execution" | "hook";
  readonly at: number;
  /** The number of microtasks to wait. Default: none, within the callback. */
  readonly hops?: number;
}

export type HookName =
  | "transformContext"
  | "convertToLlm"
  | "getApiKey"
  | "beforeToolCall"
  | "afterToolCall"
  | "shouldStopAfterTurn"
  | "getSteeringMessages"
  | "getFollowUpMessages";

/**
 * The behaviour of a hook at its call number `call`. `acts`: its purpose, such as to block,
 * replace, stop or add. The others are for `beforeToolCall`: valid arguments, invalid arguments, or
 * an approval that a person answers after `wait`.
 */
export interface HookPlan {
  readonly hook: HookName;
  readonly call: number;
  readonly does?: "throws" | "rejects" | "never" | "acts" | "edits" | "spoils" | "asks";
  /** The person's answer; absent if there is none. */
  readonly answer?: "allow" | "deny";
  readonly wait?: number;
  readonly hops?: number;
  /** For a queue's hook: it takes the messages first, and returns them after its wait. */
  readonly early?: boolean;
}

/** The behaviour of a listener at event `from`, and at every `every`-th event after it. */
export interface ListenerPlan {
  readonly from: number;
  readonly every?: number;
  readonly does: "throws" | "rejects" | "never" | "waits" | "leaves";
  readonly wait?: number;
}

/** The behaviour of the recorder for step number `at`, before or after the step itself. */
export interface StepPlan {
  readonly at: number;
  readonly isBehind?: boolean;
  readonly does: "waits" | "rejects" | "never";
  readonly wait?: number;
}

/** Reads slowly, or leaves after this many events. */
export interface ReaderPlan {
  readonly wait?: number;
  readonly leaves?: number;
  readonly batches?: boolean;
}

export interface AnswerPlan {
  /** How the stream function itself behaves. Default: it returns a stream at once. */
  readonly opens?: "later" | "throws" | "rejects" | "garbage";
  /** Default `live`, as this library's own streams; the others are custom streams. */
  readonly shape?: "plain" | "batches" | "iterator" | "final";
  /** Default `obeys`: an error event. */
  readonly onAbort?: "ignores" | "throws";
  /** Emitted before any output. */
  readonly before?: readonly ("retry" | "failover")[];
  readonly parts: readonly PartPlan[];
  /** Milliseconds before each batch; 0 is a separate event loop turn. Default: all at once. */
  readonly wait?: number;
  /** Events per batch. Default: all available ones. */
  readonly batch?: number;
  /** All output is withdrawn and emitted again. */
  readonly retracts?: boolean;
  /** Default `done`. */
  readonly ends?: "error" | "throws" | "throwsTyped" | "cut" | "never";
  /** Default: determined by the parts. */
  readonly stopReason?: "stop" | "length" | "toolUse";
  readonly paused?: boolean;
  readonly usage?: Usage;
  /** The error of `error`, `throwsTyped`, `retry` and `failover`. */
  readonly error?: ErrorInfo;
  /** Continues after its end. */
  readonly babbles?: boolean;
}

export type PartPlan =
  | { readonly type: "text" | "thinking"; readonly pieces: number }
  | { readonly type: "opaque" }
  | {
      readonly type: "call";
      readonly id: string;
      readonly tool: string;
      readonly args: ArgumentsKind;
    };

export type ArgumentsKind =
  | "fit"
  | "mendable"
  | "encodedTwice"
  | "empty"
  | "negative"
  | "surplus"
  | "cut"
  | "list"
  | "noJson";

export interface ToolPlan {
  readonly name: string;
  readonly sequential?: boolean;
  readonly timeoutMs?: number;
  /** Default: a JSON Schema. `slow` and `throws` are Standard Schemas. */
  readonly schema?: "standard" | "slow" | "throws";
  readonly prepare?: "completes" | "throws";
  /** The tool is an agent: each call is one of its runs. */
  readonly nested?: AgentPlan;
  /** The behaviour of its calls, in order. */
  readonly calls: readonly ToolCallPlan[];
}

export interface ToolCallPlan {
  readonly wait?: number;
  readonly hops?: number;
  /** Default: a text. */
  readonly ends?: "throws" | "throwsAtOnce" | "isError" | "terminates" | "never" | GarbageKind;
  /** The number of progress updates, this many ms apart. */
  readonly updates?: readonly number[];
  /** Reports progress this long after it has settled. */
  readonly late?: number;
  /** Default `throws`, as tools should. */
  readonly onAbort?: "ignores" | "returns";
}

export type GarbageKind =
  | "undefined"
  | "null"
  | "number"
  | "string"
  | "noContent"
  | "textContent"
  | "list";
