/** `bowline/tools`: read, write, edit, bash, grep and glob, for one working directory. */
import { BowlineError, type AgentTool } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import { createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { checkLimits } from "./limits.ts";
import { createReadTool } from "./read.ts";
import type { ToolOptions } from "./workspace.ts";
import { createWriteTool } from "./write.ts";

export type ToolName = "read" | "write" | "edit" | "bash" | "grep" | "glob";

const factories: Readonly<Record<ToolName, (options: ToolOptions) => AgentTool>> = {
  read: createReadTool,
  write: createWriteTool,
  edit: createEditTool,
  bash: createBashTool,
  grep: createGrepTool,
  glob: createGlobTool,
};

export interface ToolsOptions extends ToolOptions {
  /** The tools to create, in this order. Default: all. */
  readonly only?: readonly ToolName[];
}

const optionNames: Readonly<Record<keyof ToolsOptions, true>> = {
  allowedSecrets: true,
  confined: true,
  env: true,
  hidden: true,
  limits: true,
  only: true,
  outputFolder: true,
  root: true,
  sandbox: true,
};

/**
 * Creates tools for an agent, confined to one working directory. bash starts there but is not
 * confined. Throws `invalid_argument` for an unusable directory, for an unknown tool, option or
 * limit, and for a limit out of range.
 */
export function createTools({ only, ...options }: ToolsOptions): AgentTool[] {
  checkNames({ only, ...options }, Object.keys(optionNames));
  checkLimits(options.limits ?? {});
  const names = only ?? (Object.keys(factories) as ToolName[]);
  return names.map((name) => {
    if (!Object.hasOwn(factories, name))
      throw new BowlineError("invalid_argument", `No tool is named "${name}".`);
    return factories[name](options);
  });
}

const readOnly: ReadonlySet<string> = new Set<ToolName>(["read", "grep", "glob"]);

/** Returns true if a tool can change something, also for unknown names. */
export function needsApproval(toolName: string): boolean {
  return !readOnly.has(toolName);
}

export type { BashDetails } from "./bash.ts";
export type { FoundProcess } from "./command-tree.ts";
export { describeCall } from "./describe-call.ts";
export type { EditDetails } from "./edit.ts";
export type { GlobDetails } from "./glob.ts";
export type { GrepDetails } from "./grep.ts";
export type { ToolLimits } from "./limits.ts";
export type { ReadDetails } from "./read.ts";
export { openSandbox, sandboxStatus } from "./sandbox.ts";
export type { OpenSandboxOptions, Sandbox, SandboxChoice } from "./sandbox.ts";
export type { ToolOptions } from "./workspace.ts";
export type { WriteDetails } from "./write.ts";
