/**
 * What a caller can put into the loop, and the contract of each. A hook that throws or rejects
 * never hangs or crashes the run: around a tool it makes an error result, elsewhere it ends the run
 * with `hook_failed`.
 */
import type { AssistantMessage, Message, ToolResultMessage } from "../../llm/message.ts";
import type { Model, StreamOptions } from "../../llm/model.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { Budget, SharedBudget } from "./budget.ts";
import type { InboxKind } from "./effects.ts";
import type { RunPort } from "./run-port.ts";
import type { AgentTool, AgentToolCall, ToolExecutionMode } from "./tool.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool-result.ts";

/** The transcript and what goes with it. The loop appends to `messages` in place. */
export interface AgentContext {
  systemPrompt: string;
  messages: AgentMessage[];
  tools?: AgentTool[] | undefined;
}

export interface BeforeToolCallContext {
  readonly assistantMessage: AssistantMessage;
  readonly toolCall: AgentToolCall;
  /** Checked against the tool's schema. */
  readonly args: unknown;
  readonly context: AgentContext;
  readonly run: RunPort;
  /** Names this call among all calls of all runs; the tool gets the same. */
  readonly idempotencyKey: string;
  /** The tool says that a person has to allow this call; a text is the reason to show. */
  readonly needsApproval?: true | string;
  /**
   * Says that a person has allowed this call with these arguments, by default `args` as they are
   * now. A call that needs approval does not run without it. Absent in `afterToolCall`.
   */
  readonly approve?: (args?: unknown) => void;
  /**
   * The call gives the value of a run for an output, and does nothing else. `requireApproval` asks
   * nobody about it.
   */
  readonly isOutput?: boolean;
}

/**
 * `block` prevents the call; the model gets `reason` as an error result, and with `terminate` is not
 * asked again, if every result of the answer says so. `args` replaces the arguments, which are then
 * checked again. Nothing returned lets the call run.
 */
export interface BeforeToolCallResult {
  block?: boolean | undefined;
  reason?: string | undefined;
  terminate?: boolean | undefined;
  args?: unknown;
}

export interface AfterToolCallContext extends BeforeToolCallContext {
  readonly result: CheckedToolResult<object | undefined>;
  readonly isError: boolean;
}

/** Each field given replaces the result's, whole; nothing is merged deeply. */
export interface AfterToolCallResult {
  content?: AgentToolResult["content"] | undefined;
  details?: unknown;
  isError?: boolean | undefined;
  terminate?: boolean | undefined;
}

export interface ShouldStopAfterTurnContext {
  readonly message: AssistantMessage;
  readonly toolResults: ToolResultMessage[];
  readonly context: AgentContext;
  /** Messages new in this run so far. */
  readonly newMessages: AgentMessage[];
}

type MaybePromise<T> = T | PromiseLike<T>;

/**
 * Everything the loop is told beside the transcript. Every stream option is accepted and passed on
 * with each model call.
 */
export interface AgentLoopConfig extends Omit<StreamOptions, "signal"> {
  model: Model;
  /** Makes LLM messages of the transcript before each model call, after `transformContext`. */
  convertToLlm: (messages: AgentMessage[]) => MaybePromise<Message[]>;
  /**
   * Prunes or adds for one request only: it gets a copy of the list. It may ask a model of its own, so it has
   * no time limit but the run's.
   */
  transformContext?:
    | ((
        messages: AgentMessage[],
        signal?: AbortSignal,
        run?: RunPort,
      ) => MaybePromise<AgentMessage[]>)
    | undefined;
  /**
   * Asked before each model call; a falsy answer falls back to `apiKey`. Asked once more when the
   * key is refused with 401 before any output: another key is tried once.
   */
  // Q226
  getApiKey?: ((provider: string) => MaybePromise<string | undefined>) | undefined;
  /** Default `parallel`. */
  toolExecution?: ToolExecutionMode | undefined;
  /** Runs after `tool_execution_start` and after the arguments were checked, one call at a time. */
  beforeToolCall?:
    | ((
        context: BeforeToolCallContext,
        signal?: AbortSignal,
      ) => MaybePromise<BeforeToolCallResult | undefined | void>)
    | undefined;
  /**
   * Runs after a tool, failed ones too, before `tool_execution_end`. Not for calls that never ran.
   */
  afterToolCall?:
    | ((
        context: AfterToolCallContext,
        signal?: AbortSignal,
      ) => MaybePromise<AfterToolCallResult | undefined | void>)
    | undefined;
  /** Runs after a turn that ended well; `true` ends the run before any queue is read. */
  shouldStopAfterTurn?:
    | ((context: ShouldStopAfterTurnContext, signal?: AbortSignal) => MaybePromise<boolean>)
    | undefined;
  /**
   * Messages to inject before the next model call. What it gives too late goes to `returnMessages`.
   */
  getSteeringMessages?: (() => MaybePromise<readonly AgentMessage[]>) | undefined;
  /** Whether such messages wait, for `skipToolsOnSteering`. */
  hasSteeringMessages?: (() => boolean) | undefined;
  /**
   * Messages to go on with when the agent would stop. What it gives too late goes to
   * `returnMessages`.
   */
  getFollowUpMessages?: (() => MaybePromise<readonly AgentMessage[]>) | undefined;
  /**
   * Takes back what one of the two gave when it was no longer waited for, after `hookTimeoutMs` or
   * an abort's grace: the run is over by then, or about to be. Without it such messages are lost,
   * so whoever takes messages from a queue and answers later needs it.
   */
  returnMessages?: ((messages: readonly AgentMessage[], kind: InboxKind) => void) | undefined;
  /** Of each run by itself, or of all that are given the same shared budget. */
  budget?: Budget | SharedBudget | undefined;
  /** How many tools of one answer run at a time. Default: all. */
  maxParallelTools?: number | undefined;
  /**
   * A steering message that waits stops calls that were not started: each is answered as not run.
   * Default false: it waits for the turn's calls.
   */
  skipToolsOnSteering?: boolean | undefined;
  /**
   * The longest one tool call may take, in milliseconds; a tool's own `timeoutMs` wins.
   * Default: no limit.
   */
  toolTimeoutMs?: number | undefined;
  /**
   * How long what ignores its signal is waited for, in milliseconds: after an abort all of it
   * together, and a tool after its time limit, which then is reported as left running.
   * Default 1,000.
   */
  abortGraceMs?: number | undefined;
  /**
   * The longest one listener may take for an event, or a hook, in milliseconds. Default 60,000; 0
   * is no limit. Hooks around tools may wait for a person, and `transformContext` for a model: they
   * have none.
   */
  hookTimeoutMs?: number | undefined;
  /** Handed to every tool unchanged. */
  toolContext?: unknown;
  /** The run whose tool started this one. */
  parentRunId?: string | undefined;
  /** The tool call that started this run. */
  parentToolCallId?: string | undefined;
  /** The name of that tool. */
  parentToolName?: string | undefined;
}
