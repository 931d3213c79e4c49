/** `@bowline/mcp`: the tools of MCP servers for an agent. */
export { connectMcp, whyNotServer } from "./connect-mcp.ts";
export type { Mcp } from "./mcp.ts";
export type { McpServerEntries, McpServerEntry } from "./config/entry.ts";
export type { McpEvent } from "./event.ts";
export type { McpCall, McpLimits, McpOptions, McpRequestContext, McpToolHints } from "./options.ts";
export type { McpPrompt, McpPromptMessages } from "./prompts.ts";
export type { McpResource } from "./resources.ts";
export type { McpServerState, McpServerStatus } from "./server-state.ts";
export type { McpToolProblem } from "./wire/mend-tools.ts";
