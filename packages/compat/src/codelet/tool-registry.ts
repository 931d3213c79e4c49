/** codelet's tools by name. They are core's tools: create them with `defineTool`. */
import type { AgentTool } from "@bowline/core/agent";
import {
  messageText,
  type FileContent,
  type ImageContent,
  type Tool,
  toJsonSchema,
} from "@bowline/core";
import { mediaOf } from "../parts.ts";
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
  files?: readonly FileContent[];
}

export class ToolRegistry {
  readonly #tools = new Map<string, AgentTool>();

  /**
   * Creates a registry with the given tools. There are no built-in tools, because the library does
   * not depend on a system.
   */
  static default(tools: readonly AgentTool[] = []): ToolRegistry {
    const registry = new ToolRegistry();
    for (const tool of tools) registry.register(tool);
    return registry;
  }

  /** Adds a tool. Replaces a tool with the same name. */
  register(tool: AgentTool): void {
    this.#tools.set(tool.name, tool);
  }

  get tools(): AgentTool[] {
    return [...this.#tools.values()];
  }

  definitions(): ToolDefinition[] {
    return this.tools.map(toDefinition);
  }

  /** Runs a tool on validated input. Rejects with the tool's error, and for an unknown name. */
  async execute(name: string, input: unknown): Promise<ToolOutput> {
    const call = toToolCall(name, name, JSON.stringify(input ?? {}));
    const result = await runCall(this.tools, call);
    const content = messageText(result);
    if (result.isError) throw new Error(content);
    return { content, ...mediaOf(result) };
  }
}

export function toDefinition({ name, description, parameters }: Tool): ToolDefinition {
  return { name, description, inputSchema: toJsonSchema(parameters, `tool "${name}"`) };
}
