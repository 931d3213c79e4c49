/** The Gemini generateContent wire, and the vendor's own tools. */
export { googleGenerate, streamGoogleGenerate } from "./wire.ts";
/**
 * The vendor's own tools, for the agent's `tools`. Each function throws `invalid_argument` for an
 * option that it does not know.
 */
export * as google from "./tools.ts";
export type { GoogleFileSearchOptions, GoogleSearchOptions } from "./tools.ts";
export type { ProviderTool, ProviderToolResult } from "../provider-tool.ts";
