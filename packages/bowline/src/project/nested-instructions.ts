/** Adds the instructions of nested folders to the results of file tools. */
import type { AgentTool } from "@bowline/core";
import type { Project } from "./project.ts";

const fileTools: ReadonlySet<string> = new Set(["read", "edit", "write"]);

/**
 * Wraps the tools that name one file. The first result for a file below a folder with an AGENTS.md
 * of its own ends with that file's text.
 */
export function withNestedInstructions(
  tools: readonly AgentTool[],
  { instructionsFor }: Pick<Project, "instructionsFor">,
): AgentTool[] {
  return tools.map((tool) => {
    if (!fileTools.has(tool.name)) return tool;
    return {
      ...tool,
      async execute(toolCallId, params, signal, onUpdate, run) {
        const result = await tool.execute(toolCallId, params, signal, onUpdate, run);
        const { path } = params as { readonly path?: unknown };
        const text = typeof path === "string" ? await instructionsFor(path) : undefined;
        if (text === undefined) return result;
        return { ...result, content: [...(result.content ?? []), { type: "text", text }] };
      },
    };
  });
}
