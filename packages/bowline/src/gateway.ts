/** `bowline/gateway`: agents behind a socket, and the names of seed 003. */
export { parseModelRef } from "@bowline/core";
export type { ModelRef } from "@bowline/core";
export { serve } from "./serve/serve.ts";
export type { Served, ServeOptions } from "./serve/serve.ts";
export { DEFAULT_PORT, startGateway } from "./gateway/server/server.ts";
export type { Gateway, GatewayOptions } from "./gateway/server/server.ts";
export { createGateway } from "./gateway/server/create-gateway.ts";
export type { MountedGateway, MountOptions } from "./gateway/server/create-gateway.ts";
export type { Access, Authorize } from "./gateway/access/access.ts";
export type { Tokens } from "./gateway/access/tokens.ts";
export { createPage } from "./page/node/page.ts";
export { createBackends } from "./models/backends.ts";
export type { BackendOptions, Backends } from "./models/backends.ts";
export type { Backend } from "./models/backend.ts";
export type { MethodContext } from "./gateway/server/methods.ts";
export { defaultLimits } from "./gateway/protocol/limits.ts";
export type { GatewayLimits } from "./gateway/protocol/limits.ts";
export { findAgent } from "./gateway/agents/agent-entry.ts";
export type { AgentEntry } from "./gateway/agents/agent-entry.ts";
export { parseAgents, readAgents } from "./serve/agents-file.ts";
export { createWorkspaceFiles } from "./serve/workspace-files.ts";
export { loadRules } from "./policy/rules.ts";
export type { Rules } from "./policy/rules.ts";
export type { PolicyAction, PolicyRule } from "./policy/policy.ts";
export type { Methods } from "./gateway/protocol/protocol.ts";
export { createMemoryPending, createPendingFolder } from "./gateway/runs/pending.ts";
export type { Pending, PendingMessage } from "./gateway/runs/pending.ts";
export { events, methods } from "./gateway/protocol/schema.ts";
export type { EventSchema, MethodSchema } from "./gateway/protocol/schema.ts";
export type { ModelInfo, RequestFrame, ResponseFrame } from "./gateway/protocol/frame.ts";
export { closeCodes, errorNumbers, plainEvents } from "./gateway/protocol/frame.ts";
export { AnthropicProvider, OpenAIProvider } from "./gateway/compat/provider.ts";
export type { ProviderOptions } from "./gateway/compat/provider.ts";
export { buildSystemPrompt } from "./serve/prompt-builder.ts";
export { runAgentTurn } from "./gateway/compat/run-turn.ts";
export type { RunnerOptions, Tool } from "./gateway/compat/run-turn.ts";
export { createProviderRegistry } from "./gateway/compat/registry.ts";
export type { Config } from "./gateway/compat/registry.ts";
export { toStreamFn } from "./gateway/compat/stream-fn.ts";
export type {
  ChatEvent,
  ChatParams,
  ContentBlock,
  Message,
  ModelProvider,
  ToolDefinition,
} from "./gateway/compat/types.ts";
