/** The providers and the runner of the gateway shape. */
export { AnthropicProvider, OpenAIProvider } from "./provider.ts";
export type { ProviderOptions } from "./provider.ts";
export { createProviderRegistry } from "./registry.ts";
export type { Config } from "./registry.ts";
export { runAgentTurn } from "./run-turn.ts";
export type { RunnerOptions, Tool } from "./run-turn.ts";
export { toStreamFn } from "./stream-fn.ts";
export type {
  ChatEvent,
  ChatParams,
  ContentBlock,
  Message,
  ModelProvider,
  ToolDefinition,
} from "./types.ts";
