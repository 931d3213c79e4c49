/**
 * Decides whether a call runs: plan mode first, then the permissions, then a person. Denials of
 * the permissions apply also where everything else is allowed.
 */
import { requireApproval, type BeforeToolCallContext } from "@bowline/core";
import type { Permissions } from "../policy/permissions.ts";
import type { Verdict } from "../policy/policy.ts";
import { isServerTool } from "../policy/server-tool.ts";
import { projectTools } from "../project/project-tools.ts";
import { refusalOf } from "../project/tool-limits.ts";
import type { ToolRule } from "../project/tool-rules.ts";
import type { Approver } from "../record/run-setup.ts";
import { needsApproval } from "../tools/index.ts";

export interface GateOptions {
  readonly permissions: () => Permissions;
  readonly isPlan: () => boolean;
  /** The only calls that the command of the current run may lead to. Undefined: all. */
  readonly only?: () => readonly ToolRule[] | undefined;
  /** The session's id, for rules of one session. */
  readonly sessionKey: () => string;
  /** `--yes`: run what the permissions would ask about. */
  readonly yes: boolean;
}

/**
 * Returns why a call is refused in plan mode, or undefined. A sub-agent may work: its own calls pass
 * the same gate. What the tool of a server does is known from its server alone, so it needs a rule of
 * a person that allows it by name.
 */
export function planRefusal(toolName: string, verdict?: Verdict): string | undefined {
  if (!needsApproval(toolName) || projectTools.has(toolName)) return undefined;
  const isNamed = verdict?.action === "allow" && verdict.rule?.tool.includes("__") === true;
  if (isServerTool(toolName) && isNamed) return undefined;
  return (
    `Plan mode: propose, do not change. ${toolName} does not run now; only reading tools do. ` +
    "Answer with what you would do. The person leaves plan mode when they want it done."
  );
}

export function createGate({ permissions, isPlan, only, sessionKey, yes }: GateOptions): Approver {
  return async (context: BeforeToolCallContext, signal, asked) => {
    const { args } = context;
    const { name } = context.toolCall;
    if (context.isOutput === true) return undefined;
    const call = { tool: name, args, sessionKey: sessionKey() };
    const verdict = permissions().judge(call);
    const refusal = isPlan() ? planRefusal(name, verdict) : undefined;
    if (refusal !== undefined) return { block: true, reason: refusal };
    const tools = only?.();
    const excluded = tools && refusalOf("command", { tools, disallowedTools: [] }, name, args);
    if (excluded !== undefined) return excluded;
    if (verdict.action === "deny")
      return { block: true, reason: `Denied by the permissions: ${verdict.reason}` };
    const isFree = projectTools.has(name) && verdict.rule === undefined;
    const isAllowed = verdict.action === "allow" || isFree;
    if ((isAllowed && asked === undefined) || yes) {
      context.approve?.();
      return undefined;
    }
    const ask = requireApproval({ needed: () => asked ?? verdict.reason, timeoutMs: 0 });
    return ask(context, signal);
  };
}
