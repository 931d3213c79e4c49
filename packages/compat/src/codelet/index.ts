/** The shape of codelet's runner. */
export { hasToolCall, Message } from "./message.ts";
export type {
  CompletionResponse,
  ContentBlock,
  ContentPart,
  MessageContent,
  MessageRole,
  StopReason,
} from "./message.ts";
export { ClaudeProvider, ModelProvider, toStreamFn } from "./provider.ts";
export type { LlmProvider } from "./provider.ts";
export { Runner } from "./runner.ts";
export type { RunnerOptions, RunOptions } from "./runner.ts";
export { ToolRegistry } from "./tool-registry.ts";
export type { ToolDefinition, ToolOutput } from "./tool-registry.ts";
