/** The interface of a tool for the loop. Use `defineTool` to make a tool with types. */
import type { InferSchema, UncheckedArguments } from "../../infer-schema.ts";
import type { Tool, ToolCall } from "../../llm/message.ts";
import type { ChildResult } from "./effects.ts";
import type { RunPort } from "./run-port.ts";
import type { AgentToolResult, CheckedToolResult } from "./tool-result.ts";

/**
 * Reports progress. Pass the whole result so far, because each report replaces the previous one.
 * Ignored after the tool has finished.
 */
export type AgentToolUpdateCallback<TDetails = unknown> = (
  partial: AgentToolResult<TDetails>,
) => void;

export type ToolExecutionMode = "sequential" | "parallel";

/** A tool call, as hooks receive it. */
export type AgentToolCall = ToolCall;

/** The fifth argument of `execute`: facts about the current run. */
export interface ToolRunContext<TContext = unknown> {
  /** The agent's context object, passed through unchanged. */
  readonly context: TContext;
  /**
   * The same for every attempt of this call, also after a crash. Pass it to services that support
   * idempotency keys.
   */
  readonly idempotencyKey: string;
  /** The run that made the call. */
  readonly run: RunPort;
}

/** The second argument of a tool's `needsApproval`: the call. */
export interface ApprovalCheck<TContext = unknown> extends ToolRunContext<TContext> {
  readonly toolCallId: string;
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
}

/**
 * Returns whether a call needs a person's approval. A string means yes and is the reason to show. A
 * throw refuses the call. It is typed as a method, so that a list can hold tools with different
 * arguments and contexts.
 */
export type NeedsApproval<TParameters = unknown, TContext = UncheckedArguments> = {
  decide(
    args: InferSchema<TParameters>,
    call: ApprovalCheck<TContext>,
  ): boolean | string | undefined | PromiseLike<boolean | string | undefined>;
}["decide"];

/** The two halves of an agent tool's `execute`. */
export interface NestedTool {
  /** Runs the nested run in this process. Rejects if it could not start. */
  start(
    this: void,
    toolCallId: string,
    args: unknown,
    signal: AbortSignal,
    run: ToolRunContext,
  ): Promise<ChildResult>;
  /** Returns the call's result. Throws for a run that failed or gave no answer. */
  toResult(this: void, result: ChildResult): CheckedToolResult;
}

/**
 * A tool. The type of its arguments follows from `TParameters`, the type of its schema. Without it,
 * the fields of `params` can be used unchecked.
 */
export interface AgentTool<
  TParameters = unknown,
  TDetails = unknown,
  TContext = UncheckedArguments,
> extends Tool {
  /**
   * The schema of the arguments, an object: JSON Schema, TypeBox, or a Standard Schema with its
   * JSON Schema.
   */
  parameters: TParameters;
  /** Name for display. Default: `name`. */
  label?: string | undefined;
  /**
   * `sequential` makes all calls of the answer run one at a time. Default: the loop's
   * `toolExecution`.
   */
  executionMode?: ToolExecutionMode | undefined;
  /** Whether a call that was running at a crash may run again. Default `never`. */
  replay?: "never" | "safe" | undefined;
  /** Time limit for one call, in milliseconds. Default: the loop's `toolTimeoutMs`. */
  timeoutMs?: number | undefined;
  /**
   * Whether a person must approve a call before it runs. A function decides by the validated
   * arguments. Such a call runs only when `beforeToolCall` approves it, as `requireApproval()` does
   * after a person's answer. Otherwise it does not run, and the model gets the reason. Default
   * false.
   */
  needsApproval?: boolean | NeedsApproval<TParameters, TContext> | undefined;
  /**
   * Set by `createAgentTool`: how a call starts its nested run, for effects that run it elsewhere.
   * `execute` does the same in one step.
   */
  nested?: NestedTool | undefined;
  /** Repairs raw arguments before validation. A throw fails the call. */
  prepareArguments?(raw: unknown): unknown;
  /**
   * Runs the call with validated arguments. A throw fails the call, and the model gets the error's
   * message.
   */
  execute(
    toolCallId: string,
    params: InferSchema<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
    run?: ToolRunContext<TContext>,
  ): AgentToolResult<TDetails> | Promise<AgentToolResult<TDetails>>;
}
