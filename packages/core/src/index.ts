/**
 * `@bowline/core`: everything, with a default stream function. For the smallest bundle import
 * `./agent` and one wire.
 */
import { Agent as AgentWithoutWire } from "./agent/agent.ts";
import type { AgentEvent, AgentEventSink } from "./agent/contract/event.ts";
import type { AgentMessage } from "./agent/contract/agent-message.ts";
import type { AgentContext, AgentLoopConfig } from "./agent/contract/hooks.ts";
import { AgentStream, type AgentStreamOptions } from "./agent/stream/agent-stream.ts";
import * as loop from "./agent/loop.ts";
import { checkAgentOptions, checkLoopConfig } from "./agent/known-options.ts";
import { createOutputRun, type OutputRunFactory } from "./agent/output.ts";
import type { InferSchema } from "./infer-schema.ts";
import type { StreamFn } from "./llm/model.ts";
import type { EventStream } from "./llm/stream.ts";
import { streamByProtocol } from "./providers/by-protocol.ts";

/**
 * An agent whose default stream function speaks the protocol that the model names. The constructor
 * throws `invalid_argument` for an unknown option.
 */
export class Agent<TContext = unknown> extends AgentWithoutWire<TContext> {
  declare streamFn: StreamFn;
  static override readonly defaultStreamFn: StreamFn = streamByProtocol;
  static override readonly outputRun: OutputRunFactory = createOutputRun;
  static override readonly checkOptions: (options: object) => void = checkAgentOptions;

  /**
   * Starts a run as `prompt` does and returns it as a stream. Several
   * readers can read the stream. Throws `invalid_state` during a run.
   */
  stream<const TSchema>(
    input: string | AgentMessage | AgentMessage[],
    options?: AgentStreamOptions<TSchema>,
  ): AgentStream<InferSchema<TSchema>> {
    return new AgentStream(this, input, options);
  }
}

/**
 * {@link loop.agentLoop} with a default stream function. This function and the next three throw
 * `invalid_argument`, or reject with it, for an unknown option.
 */
export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn: StreamFn = streamByProtocol,
): EventStream<AgentEvent, AgentMessage[]> {
  checkLoopConfig(config);
  return loop.agentLoop(prompts, context, config, signal, streamFn);
}

/** {@link loop.agentLoopContinue} with a default stream function. */
export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn: StreamFn = streamByProtocol,
): EventStream<AgentEvent, AgentMessage[]> {
  checkLoopConfig(config);
  return loop.agentLoopContinue(context, config, signal, streamFn);
}

/** {@link loop.runAgentLoop} with a default stream function. */
export async function runAgentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn: StreamFn = streamByProtocol,
): Promise<AgentMessage[]> {
  checkLoopConfig(config);
  return loop.runAgentLoop(prompts, context, config, emit, signal, streamFn);
}

/** {@link loop.runAgentLoopContinue} with a default stream function. */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn: StreamFn = streamByProtocol,
): Promise<AgentMessage[]> {
  checkLoopConfig(config);
  return loop.runAgentLoopContinue(context, config, emit, signal, streamFn);
}

export { BowlineError, errorCodes, isBowlineError, toErrorInfo } from "./errors.ts";
export type { BowlineErrorOptions, ErrorCode, ErrorInfo } from "./errors.ts";
export { systemClock } from "./clock.ts";
export type { Clock } from "./clock.ts";
export { createRecorder } from "./transport/record.ts";
export type { Recorder, RecorderMode, RecorderOptions } from "./transport/record.ts";
export type {
  RecordedBytes,
  RecordedExchange,
  RecordedFailure,
  RecordedRequest,
  RecordedResponse,
  Recording,
} from "./transport/recording.ts";
export type { Normalize, RequestFacts } from "./transport/match.ts";
export { createRedactor } from "./transport/redact.ts";
export type { RedactedStream, Redactor } from "./transport/redact.ts";
export { checkJson } from "./json-schema.ts";
export { toJsonSchema, withJsonSchema } from "./schema.ts";
export type { JsonSchema, StandardResult, StandardSchema } from "./schema.ts";
export type { InferSchema, UncheckedArguments } from "./infer-schema.ts";

export { isLlmMessage, messageText, toolCallsOf } from "./llm/message.ts";
export type {
  AssistantContent,
  AssistantMessage,
  Context,
  FileContent,
  ImageContent,
  Message,
  OpaqueContent,
  ProviderToolEntry,
  SourceContent,
  StopReason,
  TextContent,
  ThinkingContent,
  Tool,
  ToolCall,
  ToolResultMessage,
  UserContent,
  UserMessage,
} from "./llm/message.ts";
export { applyEvent, isTerminal, reduceEvents } from "./llm/event.ts";
export type { AssistantMessageEvent } from "./llm/event.ts";
export { EventStream } from "./llm/stream.ts";
export type { Produce } from "./llm/stream.ts";
export type {
  AssistantMessageEventStream,
  AssistantMessageStream,
  Compat,
  Dialect,
  InputKind,
  Model,
  OutputFormat,
  RequestWarning,
  StreamFn,
  StreamOptions,
  StreamTimeouts,
  ThinkingBudgets,
  ThinkingLevel,
  ToolChoice,
} from "./llm/model.ts";
export { supportsOutput } from "./protocols.ts";
export { addUsage, billedUsage } from "./llm/usage.ts";
export type { Cost, Prices, Usage } from "./llm/usage.ts";

export { complete, CompletionError } from "./providers/complete.ts";
export { createFailover } from "./providers/failover.ts";
export type { FailoverOptions } from "./providers/failover.ts";
export { getModel, parseModelRef, vendors } from "./providers/vendors.ts";
export { whyNotSent } from "./providers/why-not-sent.ts";
export type { ModelFamily, ModelIds, ModelRef, Vendor, VendorId } from "./providers/vendors.ts";
export { streamByProtocol };
export { streamProxy } from "./providers/proxy/client.ts";
export type { ProxyStreamOptions } from "./providers/proxy/client.ts";

export {
  contextTokens,
  createAgentTool,
  createBudget,
  createCompaction,
  createLlmFilter,
  createMemoryEffects,
  createProgressGuard,
  defineTool,
  dropImages,
  dropThinking,
  estimateTokens,
  isEventOf,
  keepLastTurns,
  requireApproval,
  runLoop,
  shortenToolResults,
  textResult,
  toResponseEvent,
} from "./agent/index.ts";
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentEvent,
  AgentEventBody,
  AgentEventSink,
  AgentListener,
  AgentLoopConfig,
  AgentMessage,
  AgentOptions,
  AgentSettings,
  AgentState,
  AgentStream,
  AgentStreamOptions,
  AgentTool,
  AgentToolCall,
  AgentToolDetails,
  AgentToolOptions,
  AgentToolPrompt,
  AgentToolResult,
  AgentToolUpdateCallback,
  ApprovalAnswer,
  ApprovalCheck,
  ApprovalOptions,
  ApprovalQuestion,
  BeforeToolCallContext,
  BeforeToolCallResult,
  Budget,
  CallPlan,
  CheckedToolResult,
  ChildResult,
  ChildRun,
  Compaction,
  CompactionEvent,
  CompactionOptions,
  CompactionOutcome,
  CompactionReason,
  CompactionState,
  CompactOptions,
  CustomAgentMessages,
  Effects,
  Hear,
  InboxKind,
  InitialState,
  InterruptedRun,
  MemoryEffects,
  ModelStepResult,
  NeedsApproval,
  NestedUse,
  ProgressGuardOptions,
  PruneOptions,
  PromptOptions,
  QueueMode,
  QueueOptions,
  ResponseEvent,
  ResponseOptions,
  RunEndReason,
  RunInput,
  RunMemory,
  RunPort,
  RunResult,
  SettledCall,
  SharedBudget,
  ShouldStopAfterTurnContext,
  StepAbout,
  KeptEvent,
  StepResult,
  TokenEstimate,
  ToolDefinition,
  ToolEvent,
  ToolExecutionMode,
  ToolOutcome,
  ToolReturn,
  ToolRun,
  ToolRunContext,
  ToolStep,
  ToolStepResult,
  ToolValue,
  WaitOptions,
} from "./agent/index.ts";
export type { Entry, EntryBase, EntryBody, RunEnd } from "./session/entry.ts";
