/** The rule that an answer to an approval adds. */
import { covers, type Call, type PolicyRule } from "../../policy/policy.ts";
import type { ApprovalAnswer } from "../engine/engine.ts";
import { GatewayError } from "../protocol/gateway-error.ts";

/**
 * Returns the rule that an answer adds for calls to come, or undefined if it is about this call alone.
 * `offered` is the pattern that the approval shows. Throws `bad_params` if there is no pattern, or if
 * the pattern of the answer does not cover the call.
 */
export function addedRule(
  { decision, pattern }: Pick<ApprovalAnswer, "decision" | "pattern">,
  call: Call,
  offered: string | undefined,
): PolicyRule | undefined {
  if (decision !== "allow-session" && decision !== "allow-always") return undefined;
  const wanted = pattern ?? offered;
  if (wanted === undefined)
    throw new GatewayError("bad_params", "This call has no pattern. Allow it once, or deny it.");
  if (!covers(wanted, call))
    throw new GatewayError("bad_params", "The pattern does not cover this call.");
  const { tool, sessionKey } = call;
  const where = decision === "allow-session" ? { sessionKey } : {};
  return { action: "allow", tool, pattern: wanted, ...where };
}
