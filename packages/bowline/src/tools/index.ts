/** The tools of the command: read, write, edit, bash, grep, glob. */
import type { AgentTool } from "@bowline/core";
import { createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createReadTool } from "./read.ts";
import type { ToolOptions } from "./workspace.ts";
import { createWriteTool } from "./write.ts";

/** All of them, for one working directory. Throws `invalid_argument` if that is none. */
export function createTools(options: ToolOptions): AgentTool[] {
  return [createReadTool, createWriteTool, createEditTool, createBashTool, createGrepTool, createGlobTool].map(
    (create) => create(options),
  );
}

const readOnly: ReadonlySet<string> = new Set(["read", "grep", "glob"]);

/** Whether a tool can change something. What is not known is taken to. */
export function needsApproval(toolName: string): boolean {
  return !readOnly.has(toolName);
}

export { createBashTool } from "./bash.ts";
export { describeCall } from "./describe-call.ts";
export { createEditTool } from "./edit.ts";
export { createGlobTool } from "./glob.ts";
export { createGrepTool } from "./grep.ts";
export { createReadTool } from "./read.ts";
export type { ToolOptions } from "./workspace.ts";
export { createWriteTool } from "./write.ts";
