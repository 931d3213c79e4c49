/** Refuses the calls that the definition of a sub-agent or a command excludes. */
import type { BeforeToolCallResult } from "@bowline/core";
import { covers } from "../policy/policy.ts";
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
  const isOf = ({ tool }: ToolRule): boolean => tool === toolName || tool === "*";
  const isHit = ({ pattern }: ToolRule): boolean => pattern === undefined || covers(pattern, call);
  const isAllowed = only === undefined || only.filter(isOf).some(isHit);
  const denied = disallowedTools.filter(isOf).find(isHit);
  // A command that cannot be parsed may hide what a pattern denies.
  const unclear = disallowedTools.find(
    (rule) => isOf(rule) && rule.pattern !== undefined && !covers("**", call) && !covers("*", call),
  );
  if (isAllowed && denied === undefined && unclear === undefined) return undefined;
  const rule = denied ?? unclear;
  const reason =
    rule === undefined
      ? `This ${owner} may only use ${(only ?? []).map(ruleText).join(", ")}.`
      : `This ${owner} may not use ${ruleText(rule)}.`;
  return { block: true, reason };
}
