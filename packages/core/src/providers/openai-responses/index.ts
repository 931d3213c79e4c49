/** The OpenAI Responses wire, and the vendor's own tools. */
export { openaiResponses, streamOpenaiResponses } from "./wire.ts";
/**
 * The vendor's own tools, for the agent's `tools`. Each function throws `invalid_argument` for an
 * option that it does not know.
 */
export * as openai from "./tools.ts";
export type {
  OpenaiCodeInterpreterOptions,
  OpenaiComputerActions,
  OpenaiComputerOptions,
  OpenaiFileFilter,
  OpenaiFileSearchOptions,
  OpenaiImageGenerationOptions,
  OpenaiWebSearchOptions,
} from "./tools.ts";
export type { ProviderTool, ProviderToolResult } from "../provider-tool.ts";
export type { UserLocation } from "../user-location.ts";
