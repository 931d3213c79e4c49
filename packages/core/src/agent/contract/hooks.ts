/**
 * The hooks and options of the loop. A hook that throws or rejects never hangs or crashes the run.
 * A failing hook around a tool makes an error result; any other failing hook ends the run with
 * `hook_failed`.
 */
import type { AssistantMessage, Message, ToolResultMessage } from "../../llm/message.ts";
import type { Model, StreamOptions } from "../../llm/model.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { Budget, SharedBudget } from "./budget.ts";
import type { InboxKind } from "./effects.ts";
import type { RunPort } from "./run-port.ts";
import type { AgentTool, AgentToolCall, ToolExecutionMode } from "./tool.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool-result.ts";

/** The transcript, the system prompt and the tools. The loop appends to `messages` in place. */
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
  /** Identifies this call among all calls of all runs. The tool receives the same key. */
  readonly idempotencyKey: string;
  /**
   * Set when the tool requires a person's approval for this call. A string is the reason to show.
   */
  readonly needsApproval?: true | string;
  /**
   * Records that a person has allowed this call with these arguments (default: the current `args`).
   * A call that needs approval does not run otherwise. Absent in `afterToolCall`.
   */
  readonly approve?: (args?: unknown) => void;
  /**
   * Set when the call only delivers the value for the `output` option. `requireApproval` lets it
   * run without approval.
   */
  readonly isOutput?: boolean;
  /**
   * Set when the run's engine records what the hook returns. The hook then cannot wait for a person:
   * `run.waitFor` rejects. It returns `ask` instead, as `requireApproval` does.
   */
  readonly isRecorded?: true;
}

/** A question for a person about a call. */
export interface ApprovalQuestion {
  /** The name of the answer. */
  readonly approvalId: string;
  /** The exact arguments that are shown and that the call then runs with. */
  readonly args: unknown;
  readonly reason?: string;
  /** Milliseconds since the epoch. An answer that is given later is a denial. Absent: no limit. */
  readonly expiresAt?: number;
}

/**
 * The decision about a call. `block` prevents it, and the model gets `reason` as an error result.
 * `terminate` ends the run after the turn if every result of the turn sets it. `args` replaces the
 * arguments, which are then validated again. Return nothing to let the call run.
 */
export interface BeforeToolCallResult {
  block?: boolean | undefined;
  reason?: string | undefined;
  terminate?: boolean | undefined;
  args?: unknown;
  /**
   * With `block: true`: the loop asks a person, and the call runs if the person allows it. Only when
   * the context has `isRecorded`; otherwise the call is blocked.
   */
  ask?: ApprovalQuestion | undefined;
}

export interface AfterToolCallContext extends BeforeToolCallContext {
  readonly result: CheckedToolResult<object | undefined>;
  readonly isError: boolean;
}

/** Each given field replaces the same field of the result. There is no deep merge. */
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
  /** The messages of this run so far. */
  readonly newMessages: AgentMessage[];
}

type MaybePromise<T> = T | PromiseLike<T>;

/**
 * The configuration of the loop. It accepts every stream option and passes it on with each model
 * call.
 */
export interface AgentLoopConfig extends Omit<StreamOptions, "signal"> {
  model: Model;
  /**
   * Converts the transcript to LLM messages before each model call, after `transformContext`.
   * Default of an agent: keeps the roles `user`, `assistant` and `toolResult`.
   */
  convertToLlm: (messages: AgentMessage[]) => MaybePromise<Message[]>;
  /**
   * Removes or adds messages for one request. It receives a copy of the list. It has no time limit
   * except the run's, because it may call a model.
   */
  transformContext?:
    | ((
        messages: AgentMessage[],
        signal?: AbortSignal,
        run?: RunPort,
      ) => MaybePromise<AgentMessage[]>)
    | undefined;
  /**
   * Returns the API key; called before each model call. A falsy result falls back to `apiKey`.
   * After a 401 before any output it is called once more, and a different key is tried once.
   */
  // Q226
  getApiKey?: ((provider: string) => MaybePromise<string | undefined>) | undefined;
  /** Default `parallel`. */
  toolExecution?: ToolExecutionMode | undefined;
  /**
   * Runs after `tool_execution_start` and after validation of the arguments, for one call at a
   * time.
   */
  beforeToolCall?:
    | ((
        context: BeforeToolCallContext,
        signal?: AbortSignal,
      ) => MaybePromise<BeforeToolCallResult | undefined | void>)
    | undefined;
  /**
   * Runs after a tool has finished or failed, before `tool_execution_end`. It does not run for
   * calls that never started.
   */
  afterToolCall?:
    | ((
        context: AfterToolCallContext,
        signal?: AbortSignal,
      ) => MaybePromise<AfterToolCallResult | undefined | void>)
    | undefined;
  /** Runs after a successful turn. `true` ends the run before any queue is read. */
  shouldStopAfterTurn?:
    | ((context: ShouldStopAfterTurnContext, signal?: AbortSignal) => MaybePromise<boolean>)
    | undefined;
  /**
   * Returns messages to inject before the next model call. Messages that arrive too late go to
   * `returnMessages`.
   */
  getSteeringMessages?: (() => MaybePromise<readonly AgentMessage[]>) | undefined;
  /** Returns whether steering messages are queued, for `skipToolsOnSteering`. */
  hasSteeringMessages?: (() => boolean) | undefined;
  /**
   * Returns messages to continue with when the run would end. Messages that arrive too late go to
   * `returnMessages`.
   */
  getFollowUpMessages?: (() => MaybePromise<readonly AgentMessage[]>) | undefined;
  /**
   * Takes back messages that `getSteeringMessages` or `getFollowUpMessages` delivered too late:
   * after `hookTimeoutMs` or the abort grace period. The run has ended or is about to end. Without
   * this hook such messages are lost. Set it if those hooks are asynchronous and remove messages
   * from a queue.
   */
  returnMessages?: ((messages: readonly AgentMessage[], kind: InboxKind) => void) | undefined;
  /**
   * Limits each run separately, or all runs that share the same `SharedBudget` together. Default of
   * an agent: 50 turns a run, no limit of tokens, money or time.
   */
  budget?: Budget | SharedBudget | undefined;
  /** Maximum number of tools of one answer that run concurrently. Default: all. */
  maxParallelTools?: number | undefined;
  /**
   * When true, a queued steering message skips the turn's calls that have not started: each gets a
   * result that says so. Default false: the message waits until the turn's calls are done.
   */
  skipToolsOnSteering?: boolean | undefined;
  /**
   * Time limit for one tool call, in milliseconds. A tool's own `timeoutMs` wins. Default: no
   * limit.
   */
  toolTimeoutMs?: number | undefined;
  /**
   * The abort grace period, in milliseconds: how long the run waits for code that ignores its
   * signal. After an abort it applies to all pending code together. It also applies to a tool after
   * its time limit; the tool is then reported as left running. Default 1,000.
   */
  abortGraceMs?: number | undefined;
  /**
   * Time limit for one hook call, or one listener per event, in milliseconds. Default 60,000; 0
   * means no limit. It does not apply to hooks around tools, which may wait for a person, or to
   * `transformContext`, which may wait for a model.
   */
  hookTimeoutMs?: number | undefined;
  /** Passed to every tool unchanged. */
  toolContext?: unknown;
  /** The run whose tool started this one. */
  parentRunId?: string | undefined;
  /** The tool call that started this run. */
  parentToolCallId?: string | undefined;
  /** The name of that tool. */
  parentToolName?: string | undefined;
}
