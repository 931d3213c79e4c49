/** The agent and the loop without a wire: bring a `streamFn`, and a bundle holds only what it uses. */
export { Agent } from "./agent.ts";
export type { AgentListener, AgentOptions, AgentSettings } from "./agent.ts";
export { agentLoop, agentLoopContinue } from "./loop.ts";
export { defineTool, textResult } from "./define-tool.ts";
export type { ToolDefinition, ToolRun } from "./define-tool.ts";
export { createMemoryEffects } from "./effects.ts";
export type { Effects, InboxKind, MemoryEffects, StepAbout } from "./effects.ts";
export type {
  AgentEvent,
  AgentEventBody,
  AgentEventSink,
  AgentMessage,
  CustomAgentMessages,
  RunEndReason,
  ToolOutcome,
} from "./event.ts";
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentLoopConfig,
  BeforeToolCallContext,
  BeforeToolCallResult,
  Budget,
  ShouldStopAfterTurnContext,
} from "./hooks.ts";
export type { QueueMode } from "./queue.ts";
export type { RunResult } from "./run.ts";
export type { AgentState, InitialState } from "./state.ts";
export type {
  AgentTool,
  AgentToolCall,
  AgentToolResult,
  AgentToolUpdateCallback,
  ToolExecutionMode,
  ToolRunContext,
} from "./tool.ts";
