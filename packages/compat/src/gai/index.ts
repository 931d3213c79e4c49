/** The shape of gai's agents. */
export { Agent, anthropic, openai } from "./agent.ts";
export type { Vendor, VendorConfig } from "./agent.ts";
export {
  appendResponse,
  hasToolCalls,
  system,
  textContent,
  toolCalls,
  toolResult,
  toolResultError,
  userText,
} from "./message.ts";
export type { Call, CompletionResponse, Content, Message } from "./message.ts";
export type {
  CompletionRequest,
  Provider,
  ProviderFunctions,
  ProviderRequest,
} from "./provider.ts";
export { err, errorToString, ok } from "./result.ts";
export type { GaiError, Result, ToolError } from "./result.ts";
export { run } from "./run.ts";
export type { RunError, RunResult } from "./run.ts";
export { fetchRuntime, Runtime } from "./runtime.ts";
export type { HttpRequest, HttpResponse } from "./runtime.ts";
export { Tool } from "./tool.ts";
export type { ToolOptions, ToolResult } from "./tool.ts";
