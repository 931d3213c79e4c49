/** karl's tools. A tool fails by throwing or by returning `isError`. */
import type { AgentTool, AgentToolResult } from "@bowline/core/agent";
import type { ImageContent, TextContent, UncheckedArguments } from "@bowline/core";

/** Text and images (Base64 with a `mimeType`). karl's shape has no files and no URLs. */
export interface ToolResult extends Pick<AgentToolResult, "isError"> {
  content: (TextContent | Extract<ImageContent, { data: string }>)[];
}

export interface ToolDefinition extends Pick<
  AgentTool<object>,
  "name" | "description" | "parameters"
> {
  /** Receives validated arguments, the call's id and a signal. */
  execute(
    params: UncheckedArguments,
    toolCallId: string,
    signal?: AbortSignal,
  ): Promise<ToolResult>;
}

/** A tool in the form of karl's runner: TypeBox parameters, and the call's id as first argument. */
export interface KarlTool extends Omit<ToolDefinition, "execute"> {
  execute(
    toolCallId: string,
    params: UncheckedArguments,
    signal?: AbortSignal,
  ): Promise<ToolResult>;
}

/** Converts a tool of karl's runner for the loop. The tool receives the real id of its call. */
export function adaptTool(tool: KarlTool): ToolDefinition {
  const { name, description, parameters } = tool;
  const execute: ToolDefinition["execute"] = async (params, toolCallId, signal) => {
    const { content, isError = false } = await tool.execute(toolCallId, params, signal);
    return { content, isError };
  };
  return { name, description, parameters, execute };
}

/** Converts a tool for the loop. `details` holds its original result. */
export function toAgentTool(tool: ToolDefinition): AgentTool {
  const { name, description, parameters } = tool;
  const execute: AgentTool["execute"] = async (toolCallId, params, signal) => {
    const result = await tool.execute(params, toolCallId, signal);
    return { ...result, details: result };
  };
  return { name, description, parameters, execute };
}
