/** The Anthropic Messages wire, and the vendor's own tools. */
export { anthropicMessages, streamAnthropicMessages } from "./wire.ts";
/**
 * The vendor's own tools, for the agent's `tools`. Each function throws `invalid_argument` for an
 * option that it does not know.
 */
export * as anthropic from "./tools.ts";
export type {
  AnthropicComputerAction,
  AnthropicComputerOptions,
  AnthropicWebFetchOptions,
  AnthropicWebSearchOptions,
} from "./tools.ts";
export type { ProviderTool, ProviderToolResult } from "../provider-tool.ts";
export type { UserLocation } from "../user-location.ts";
