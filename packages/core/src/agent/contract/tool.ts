/**
 * What a tool is to the loop. `defineTool` is the typed way to make one; the plain shape is seed
 * 002's.
 */
import type { InferSchema, UncheckedArguments } from "../../infer-schema.ts";
import type { Tool, ToolCall } from "../../llm/message.ts";
import type { RunPort } from "./run-port.ts";
import type { AgentToolResult } from "./tool-result.ts";

/**
 * Reports progress: all so far, not what is new, since it takes the place of the report before.
 * Ignored after the tool has settled.
 */
export type AgentToolUpdateCallback<TDetails = unknown> = (
  partial: AgentToolResult<TDetails>,
) => void;

export type ToolExecutionMode = "sequential" | "parallel";

/** The tool call as hooks see it. */
export type AgentToolCall = ToolCall;

/** The fifth argument of `execute`: what only this run knows. */
export interface ToolRunContext<TContext = unknown> {
  /** The agent's context object, passed through unchanged. */
  readonly context: TContext;
  /**
   * The same for every try of this call, also after a crash: hand it to services that know such
   * keys.
   */
  readonly idempotencyKey: string;
  /** The run that called. */
  readonly run: RunPort;
}

/** What `needsApproval` of a tool is told about a call, beside its arguments. */
export interface ApprovalCheck<TContext = unknown> extends ToolRunContext<TContext> {
  readonly toolCallId: string;
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
}

/**
 * Says whether a call needs a person's approval; a text is the reason that is shown. A throw refuses
 * the call. A method's type, so that lists may hold tools of other arguments and contexts.
 */
export type NeedsApproval<TParameters = unknown, TContext = UncheckedArguments> = {
  decide(
    args: InferSchema<TParameters>,
    call: ApprovalCheck<TContext>,
  ): boolean | string | undefined | PromiseLike<boolean | string | undefined>;
}["decide"];

/**
 * A tool. `TParameters` is the type of its schema, from which the arguments' type follows; without
 * it the fields of `params` can be used unchecked.
 */
export interface AgentTool<
  TParameters = unknown,
  TDetails = unknown,
  TContext = UncheckedArguments,
> extends Tool {
  /** A JSON Schema, a TypeBox schema, or a Standard Schema with its JSON Schema, of an object. */
  parameters: TParameters;
  /** For display. Default: the name. */
  label?: string | undefined;
  /** `sequential` makes the whole batch run one at a time. Default: the loop's `toolExecution`. */
  executionMode?: ToolExecutionMode | undefined;
  /** Whether a call in flight at a crash may be run again. Default `never`. */
  replay?: "never" | "safe" | undefined;
  /** The longest one call may take, in milliseconds. Default: the loop's `toolTimeoutMs`. */
  timeoutMs?: number | undefined;
  /**
   * Whether a person has to allow a call before it runs; a function decides by the checked arguments.
   * Such a call runs only when `beforeToolCall` approves it, as `requireApproval()` does for a
   * person. Otherwise it is not run, and the model reads why. Default false.
   */
  needsApproval?: boolean | NeedsApproval<TParameters, TContext> | undefined;
  /** Mends raw arguments before they are checked. A throw is a failure of the call. */
  prepareArguments?(raw: unknown): unknown;
  /** Runs the call with checked arguments. Throw to fail: the model gets the message. */
  execute(
    toolCallId: string,
    params: InferSchema<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
    run?: ToolRunContext<TContext>,
  ): AgentToolResult<TDetails> | Promise<AgentToolResult<TDetails>>;
}
