/** `bowline/gateway`: agents behind a socket, and the names of seed 003. */
export { parseModelRef } from "@bowline/core";
export type { ModelRef } from "@bowline/core";
export { serve } from "./serve.ts";
export type { Served, ServeOptions } from "./serve.ts";
export { DEFAULT_PORT, startGateway } from "./server.ts";
export type { Gateway, GatewayOptions } from "./server.ts";
export { createGateway } from "./create-gateway.ts";
export type { MountedGateway, MountOptions } from "./create-gateway.ts";
export type { Access, Authorize } from "./access.ts";
export type { Tokens } from "./tokens.ts";
export { createPage } from "../page/node/page.ts";
export { createBackends } from "./backends.ts";
export type { BackendOptions, Backends } from "./backends.ts";
export type { Backend } from "./host.ts";
export type { MethodContext } from "./methods.ts";
export { defaultLimits } from "./limits.ts";
export type { GatewayLimits } from "./limits.ts";
export { findAgent, parseAgents, readAgents } from "./agents-file.ts";
export type { AgentEntry } from "./agents-file.ts";
export { createWorkspaceFiles } from "./workspace-files.ts";
export { loadRules } from "./rules.ts";
export type { Rules } from "./rules.ts";
export type { PolicyAction, PolicyRule } from "./policy.ts";
export type { Methods } from "./protocol.ts";
export { createMemoryPending, createPendingFolder } from "./pending.ts";
export type { Pending, PendingMessage } from "./pending.ts";
export { events, methods } from "./schema.ts";
export type { EventSchema, MethodSchema } from "./schema.ts";
export type { ModelInfo, RequestFrame, ResponseFrame } from "./frame.ts";
export { closeCodes, errorNumbers, plainEvents } from "./frame.ts";
export { AnthropicProvider, OpenAIProvider } from "./compat/provider.ts";
export type { ProviderOptions } from "./compat/provider.ts";
export { buildSystemPrompt } from "./compat/prompt-builder.ts";
export { runAgentTurn } from "./compat/run-turn.ts";
export type { RunnerOptions, Tool } from "./compat/run-turn.ts";
export { createProviderRegistry } from "./compat/registry.ts";
export type { Config } from "./compat/registry.ts";
export { toStreamFn } from "./compat/stream-fn.ts";
export type {
  ChatEvent,
  ChatParams,
  ContentBlock,
  Message,
  ModelProvider,
  ToolDefinition,
} from "./compat/types.ts";
