/**
 * Checks that the tools fit an agent without a cast, and that their options are typed. Only the
 * compiler reads this file.
 */
import { Agent, type AgentTool } from "@bowline/core";
import { createTools, type ToolName, type ToolsOptions } from "bowline/tools";

/** `true` only for `any`. */
type IsAny<T> = 0 extends 1 & T ? true : false;

const tools: AgentTool[] = createTools({ root: "." });
void (false satisfies IsAny<(typeof tools)[number]>);
void (false satisfies IsAny<(typeof tools)[number]["parameters"]>);
void (false satisfies IsAny<ReturnType<typeof createTools>>);

export const agent = new Agent({
  initialState: { tools: [...tools, ...createTools({ root: ".", only: ["read"] })] },
});

export const names = [
  "read",
  "write",
  "edit",
  "bash",
  "grep",
  "glob",
] as const satisfies readonly ToolName[];
void (true satisfies ToolName extends (typeof names)[number] ? true : false);

export const whole = {
  root: ".",
  only: names,
  confined: false,
  env: process.env,
  allowedSecrets: ["NPM_TOKEN"],
  outputFolder: "/tmp",
  sandbox: { kind: "off" },
  hidden: () => ["secret/**"],
  limits: { commandMs: 1, maxCommandMs: 2, searchMs: 3, resultCharacters: 100 },
} as const satisfies Required<ToolsOptions>;

// @ts-expect-error -- there is always a working directory
createTools({});
// @ts-expect-error -- a tool's name is in lower case
createTools({ root: ".", only: ["Read"] });
// @ts-expect-error -- there is no such limit
createTools({ root: ".", limits: { timeout: 1 } });
