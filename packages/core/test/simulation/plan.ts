/**
 * Everything that will happen in a world, as JSON: what the models say, what tools, hooks and
 * listeners do, who aborts when. A seed decides a plan, a plan decides a run, and a smaller plan is
 * a smaller world. Whatever is absent behaves well.
 */
import type { AgentOptions } from "../../src/agent/index.ts";
import type { ErrorInfo } from "../../src/errors.ts";
import type { Usage } from "../../src/llm/usage.ts";

export interface Plan {
  readonly seed: number;
  /**
   * Requests are encoded for this wire and checked by its strict validator, in worlds that have
   * one.
   */
  readonly wire?: "openai-chat" | "anthropic-messages";
  /** One, or two that must never meet. */
  readonly agents: readonly AgentPlan[];
}

export interface AgentPlan {
  /** The stateful agent, or `agentLoop` and `agentLoopContinue`. */
  readonly face: "agent" | "loop";
  /** Passed on as they are. */
  readonly settings: Settings;
  /** The budget is one for all runs of the agent, not of each by itself. */
  readonly sharesBudget?: boolean;
  /** The clock has a `yield`. */
  readonly yields?: boolean;
  readonly tools: readonly ToolPlan[];
  /** The model's answers, in the order of its calls; after them it says one line. */
  readonly answers: readonly AnswerPlan[];
  readonly starts: readonly StartPlan[];
  readonly actions: readonly ActionPlan[];
  readonly hooks: readonly HookPlan[];
  readonly listeners: readonly ListenerPlan[];
  /** Its steps are recorded, all at once but these. Of the agent only. */
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
 * One use of the agent, begun `wait` after the one before has settled. `retry` drops a failed
 * answer and continues.
 */
export interface StartPlan {
  readonly kind: "prompt" | "continue" | "retry" | "reset";
  readonly wait?: number;
  /**
   * Messages of a prompt, one of the application's own among them if there are several. Default 1.
   */
  readonly messages?: number;
  /** Asks for a value of the tools' schema. Of the agent only. */
  readonly output?: boolean;
  /** The signal has fired before the run begins. Of the loop only. */
  readonly aborted?: boolean;
}

/** Something done from outside, at a moment: after so many ms, or at the so-manieth event, request,
 * tool execution or hook that does something. */
export interface ActionPlan {
  readonly does: "abort" | "steer" | "followUp" | "prompt" | "waitForIdle" | "reset" | "clear";
  readonly on: "time" | "event" | "request" | "execution" | "hook";
  readonly at: number;
  /** Microtasks later. Default none: within the callback. */
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
 * What a hook does at its call number `call`. `acts`: blocks, replaces, stops, adds, whatever it is
 * for. The rest is of `beforeToolCall`: other arguments that fit, others that do not, a person who
 * is asked and answers after `wait`.
 */
export interface HookPlan {
  readonly hook: HookName;
  readonly call: number;
  readonly does?: "throws" | "rejects" | "never" | "acts" | "edits" | "spoils" | "asks";
  /** What the person says; nothing if absent. */
  readonly answer?: "allow" | "deny";
  readonly wait?: number;
  readonly hops?: number;
  /** Of a queue's hook: it takes the messages first, and gives them after its wait. */
  readonly early?: boolean;
}

/** What a listener does at event `from`, and at every `every`-th after it. */
export interface ListenerPlan {
  readonly from: number;
  readonly every?: number;
  readonly does: "throws" | "rejects" | "never" | "waits" | "leaves";
  readonly wait?: number;
}

/** What the record of step number `at` does, before what is done in the step or behind it. */
export interface StepPlan {
  readonly at: number;
  readonly isBehind?: boolean;
  readonly does: "waits" | "rejects" | "never";
  readonly wait?: number;
}

/** Reads slowly, or leaves after so many events. */
export interface ReaderPlan {
  readonly wait?: number;
  readonly leaves?: number;
  readonly batches?: boolean;
}

export interface AnswerPlan {
  /** How the stream function itself behaves. Default: it returns a stream at once. */
  readonly opens?: "later" | "throws" | "rejects" | "garbage";
  /** Default `live`, as our own streams are; the others are as strangers write them. */
  readonly shape?: "plain" | "batches" | "iterator" | "final";
  /** Default `obeys`: an error event. */
  readonly onAbort?: "ignores" | "throws";
  /** Said before any output. */
  readonly before?: readonly ("retry" | "failover")[];
  readonly parts: readonly PartPlan[];
  /** Milliseconds before each batch; 0 is a turn of its own. Default: all at once. */
  readonly wait?: number;
  /** Events a batch. Default: all that there are. */
  readonly batch?: number;
  /** Everything is withdrawn and said again. */
  readonly retracts?: boolean;
  /** Default `done`. */
  readonly ends?: "error" | "throws" | "throwsTyped" | "cut" | "never";
  /** Default: as the parts ask. */
  readonly stopReason?: "stop" | "length" | "toolUse";
  readonly paused?: boolean;
  readonly usage?: Usage;
  /** Of `error`, `throwsTyped`, `retry` and `failover`. */
  readonly error?: ErrorInfo;
  /** Goes on after its end. */
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
  /** The tool is an agent: each call is a run of it. */
  readonly nested?: AgentPlan;
  /** What its calls do, in turn. */
  readonly calls: readonly ToolCallPlan[];
}

export interface ToolCallPlan {
  readonly wait?: number;
  readonly hops?: number;
  /** Default: a text. */
  readonly ends?: "throws" | "throwsAtOnce" | "isError" | "terminates" | "never" | GarbageKind;
  /** Progress, this many ms apart. */
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
