/**
 * The agent and the loop without a wire protocol. Pass a `streamFn`, and the bundle contains only
 * the protocol you use.
 */
export { Agent } from "./agent.ts";
export type { AgentOptions, AgentSettings, PromptOptions } from "./agent-options.ts";
export { createAgentTool } from "./agent-tool.ts";
export type {
  AgentToolDetails,
  AgentToolOptions,
  AgentToolPrompt,
  PromptParameters,
} from "./agent-tool.ts";
export { requireApproval } from "./approval.ts";
export type { ApprovalAnswer, ApprovalOptions } from "./approval.ts";
export { defineTool } from "./define-tool.ts";
export type { ToolDefinition, ToolRun } from "./define-tool.ts";
export type { AgentListener } from "./contract/event.ts";
export { AgentStream } from "./stream/agent-stream.ts";
export type { AgentStreamOptions } from "./stream/agent-stream.ts";
export { toResponseEvent } from "./stream/response-event.ts";
export type { ResponseEvent } from "./stream/response-event.ts";
export type { ResponseOptions } from "./stream/to-response.ts";
export { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue } from "./loop.ts";
export { runLoop } from "./run/run-loop.ts";
export type { RunInput } from "./run/run.ts";
export { createLlmFilter } from "./llm-filter.ts";
export { checkNames } from "../check-names.ts";
export { checkAgentOptions, checkLoopConfig } from "./known-options.ts";
export { createOutputRun } from "./output.ts";
export type { OutputRun, OutputRunFactory } from "./output.ts";
export { createProgressGuard } from "./progress-guard.ts";
export type { ProgressGuardOptions } from "./progress-guard.ts";
export type { QueueMode, QueueOptions } from "./queue.ts";
export type { AgentState, InitialState } from "./state.ts";

export type { InterruptedRun, RunResult } from "./run/run-result.ts";

export { createCompaction } from "./context/compaction.ts";
export type { Compaction, CompactOptions } from "./context/compaction.ts";
export type { CompactionOptions } from "./context/compaction-options.ts";
export { dropImages, dropThinking, keepLastTurns, shortenToolResults } from "./context/prune.ts";
export type { PruneOptions } from "./context/prune.ts";
export { contextTokens, estimateTokens } from "./context/tokens.ts";
export type { TokenEstimate } from "./context/tokens.ts";
export type { CompactionState } from "./context/view.ts";

export type { AgentMessage, CustomAgentMessages } from "./contract/agent-message.ts";
export { createBudget } from "./contract/budget.ts";
export type { Budget, SharedBudget } from "./contract/budget.ts";
export type {
  CompactionEvent,
  CompactionOutcome,
  CompactionReason,
} from "./contract/compaction-event.ts";
export { createMemoryEffects } from "./contract/memory-effects.ts";
export type { MemoryEffects } from "./contract/memory-effects.ts";
export type {
  ChildResult,
  ChildRun,
  Effects,
  Hear,
  InboxKind,
  WaitOptions,
} from "./contract/effects.ts";
export type {
  CallPlan,
  ModelStepResult,
  NestedUse,
  StepAbout,
  KeptEvent,
  StepResult,
  ToolStep,
  ToolStepResult,
} from "./contract/step.ts";
export type { AgentEvent, AgentEventBody, AgentEventSink, RunEndReason } from "./contract/event.ts";
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentLoopConfig,
  ApprovalQuestion,
  BeforeToolCallContext,
  BeforeToolCallResult,
  ShouldStopAfterTurnContext,
} from "./contract/hooks.ts";
export type { RunMemory, RunPort } from "./contract/run-port.ts";
export type {
  AgentTool,
  AgentToolCall,
  AgentToolUpdateCallback,
  ApprovalCheck,
  NeedsApproval,
  ToolExecutionMode,
  ToolRunContext,
} from "./contract/tool.ts";
export { isEventOf } from "./contract/tool-event.ts";
export type { ToolEvent } from "./contract/tool-event.ts";
export { textResult } from "./contract/tool-result.ts";
export type { ToolReturn, ToolValue } from "./contract/tool-value.ts";
export type {
  AgentToolResult,
  CheckedToolResult,
  SettledCall,
  ToolOutcome,
} from "./contract/tool-result.ts";
