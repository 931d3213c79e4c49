/** The shape of karl's agent loop and task runner, for both API formats. */
import { streamByProtocol } from "@bowline/core";
import { createAgentLoop, type Wire } from "./agent-loop.ts";
import { createRunTask } from "./run-task.ts";
import type { RunTask } from "./task-types.ts";
import type { AgentLoop } from "./types.ts";

const wire: Wire = { streamFn: streamByProtocol };

/** Runs the loop. See {@link AgentLoop}. */
export const agentLoop: AgentLoop = createAgentLoop(wire);
/** Runs a task. See {@link RunTask}. */
export const runTask: RunTask = createRunTask(wire);

export { AgentLoopError } from "./loop-error.ts";
export type { ContentBlock, Message, ToolCall } from "./message.ts";
export type {
  HookContext,
  HookName,
  RunTask,
  TaskEvent,
  TaskOptions,
  TaskResult,
} from "./task-types.ts";
export { adaptTool } from "./tool.ts";
export type { KarlTool, ToolDefinition, ToolResult } from "./tool.ts";
export type {
  AgentEvent,
  AgentLoop,
  AgentLoopConfig,
  ThinkingEvent,
  ThinkingLoopConfig,
  TokenUsage,
} from "./types.ts";
