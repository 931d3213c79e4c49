/** karl's tools. A throw is a failure, and so is a result that says `isError`. */
import type { AgentTool, AgentToolResult } from "@bowline/core/agent";
import type { UncheckedArguments } from "@bowline/core";

/** Text and images (base64 with a `mimeType`). */
export type ToolResult = Required<Pick<AgentToolResult, "content">> &
  Pick<AgentToolResult, "isError">;

export interface ToolDefinition extends Pick<
  AgentTool<object>,
  "name" | "description" | "parameters"
> {
  /** Gets checked arguments and, beside them, the call's id and a signal. */
  execute(
    params: UncheckedArguments,
    toolCallId: string,
    signal?: AbortSignal,
  ): Promise<ToolResult>;
}

/** A tool as karl's runner has it: TypeBox parameters, the call's id first. */
export interface KarlTool extends Omit<ToolDefinition, "execute"> {
  execute(
    toolCallId: string,
    params: UncheckedArguments,
    signal?: AbortSignal,
  ): Promise<ToolResult>;
}

/** karl's tool for the loop. It is told the real id of its call. */
export function adaptTool(tool: KarlTool): ToolDefinition {
  const { name, description, parameters } = tool;
  const execute: ToolDefinition["execute"] = async (params, toolCallId, signal) => {
    const { content, isError = false } = await tool.execute(toolCallId, params, signal);
    return { content, isError };
  };
  return { name, description, parameters, execute };
}

/** The tool as the loop runs it; `details` keeps what it gave. */
export function toAgentTool(tool: ToolDefinition): AgentTool {
  const { name, description, parameters } = tool;
  const execute: AgentTool["execute"] = async (toolCallId, params, signal) => {
    const result = await tool.execute(params, toolCallId, signal);
    return { ...result, details: result };
  };
  return { name, description, parameters, execute };
}
