/** codelet's tools by name. They are the library's own: make them with `defineTool`. */
import type { AgentTool } from "@bowline/core/agent";
import { messageText, type ImageContent, type Tool, toJsonSchema } from "@bowline/core";
import { imagesOf } from "../parts.ts";
import { runCall } from "../run-call.ts";
import { toToolCall } from "../transcript.ts";

export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: object;
}

export interface ToolOutput {
  content: string;
  images?: readonly ImageContent[];
}

export class ToolRegistry {
  readonly #tools = new Map<string, AgentTool>();

  /** The library runs without a system under it, so no tool is there unless it is given. */
  static default(tools: readonly AgentTool[] = []): ToolRegistry {
    const registry = new ToolRegistry();
    for (const tool of tools) registry.register(tool);
    return registry;
  }

  /** Adds a tool, in place of one of the same name. */
  register(tool: AgentTool): void {
    this.#tools.set(tool.name, tool);
  }

  get tools(): AgentTool[] {
    return [...this.#tools.values()];
  }

  definitions(): ToolDefinition[] {
    return this.tools.map(toDefinition);
  }

  /**
   * Runs a tool on checked input. Rejects with what the tool says when it fails, and for a name
   * that is not there.
   */
  async execute(name: string, input: unknown): Promise<ToolOutput> {
    const call = toToolCall(name, name, JSON.stringify(input ?? {}));
    const result = await runCall(this.tools, call);
    const content = messageText(result);
    if (result.isError) throw new Error(content);
    const images = imagesOf(result);
    return { content, ...(images && { images }) };
  }
}

export function toDefinition({ name, description, parameters }: Tool): ToolDefinition {
  return { name, description, inputSchema: toJsonSchema(parameters, `tool "${name}"`) };
}
