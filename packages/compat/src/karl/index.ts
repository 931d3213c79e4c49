/** The shape of karl's agent loop (seed 000) and of the runner around it. */
export { agentLoop } from "./agent-loop.ts";
export { AgentLoopError } from "./loop-error.ts";
export type { ContentBlock, Message, ToolCall } from "./message.ts";
export { runTask } from "./run-task.ts";
export type { HookContext, HookName, TaskEvent, TaskOptions, TaskResult } from "./task-types.ts";
export { adaptTool } from "./tool.ts";
export type { KarlTool, ToolDefinition, ToolResult } from "./tool.ts";
export type { AgentEvent, AgentLoopConfig, TokenUsage } from "./types.ts";
