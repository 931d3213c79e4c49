/** Refuses the calls that the definition of a sub-agent or a command excludes. */
import type { BeforeToolCallResult } from "@bowline/core";
import { covers, judge, type Verdict } from "../policy/policy.ts";
import { coversTool, isServerTool } from "../policy/server-tool.ts";
import { ruleText, type ToolRule } from "./tool-rules.ts";

export interface ToolLimits {
  /** The only calls that may run. Undefined: all. */
  readonly tools?: readonly ToolRule[] | undefined;
  readonly disallowedTools: readonly ToolRule[];
}

/** Returns why a definition excludes a call; undefined if it does not. */
export function refusalOf(
  owner: "agent" | "command",
  { tools: only, disallowedTools }: ToolLimits,
  toolName: string,
  args: unknown,
): BeforeToolCallResult | undefined {
  const call = { tool: toolName, args, sessionKey: "" };
  const isOf = ({ tool }: ToolRule): boolean => coversTool(tool, toolName);
  const isHit = ({ pattern }: ToolRule): boolean =>
    pattern === undefined || (!isServerTool(toolName) && covers(pattern, call));
  const isAllowed = only === undefined || only.filter(isOf).some(isHit);
  // As a deny of the permissions: a command that cannot be parsed may hide what a pattern denies.
  const verdictOf = ({ pattern }: ToolRule): Verdict =>
    judge([{ action: "deny", tool: toolName, ...(pattern !== undefined && { pattern }) }], call);
  const denied = disallowedTools.filter(isOf).find((rule) => verdictOf(rule).action === "deny");
  const unclear = disallowedTools.filter(isOf).find((rule) => verdictOf(rule).rule !== undefined);
  if (isAllowed && denied === undefined && unclear === undefined) return undefined;
  const rule = denied ?? unclear;
  const reason =
    rule === undefined
      ? `This ${owner} may only use ${(only ?? []).map(ruleText).join(", ")}.`
      : `This ${owner} may not use ${ruleText(rule)}.`;
  return { block: true, reason };
}
