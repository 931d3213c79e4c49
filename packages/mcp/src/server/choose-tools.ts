/** Which of a server's tools are offered. */
import type { Tool } from "@modelcontextprotocol/client";
import type { ToolChoice } from "../config/server-config.ts";
import type { McpToolProblem } from "../wire/mend-tools.ts";

/** Returns the tools that the entry chooses, each name once, and no more than the limit. */
export function chooseTools(
  tools: readonly Tool[],
  { only, without }: ToolChoice,
  limit: number,
  report: (problem: McpToolProblem) => void,
): Tool[] {
  const chosen = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool;
    if (without.includes(name) || only?.includes(name) === false) continue;
    // A call by this name reaches one of them, and nobody knows which.
    if (chosen.has(name)) report({ tool: name, reason: "the server names it twice" });
    else if (chosen.size >= limit)
      report({ tool: name, reason: `the server has more than ${limit} tools` });
    else chosen.set(name, tool);
  }
  return [...chosen.values()];
}
