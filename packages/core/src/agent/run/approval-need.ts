/** Decides whether a tool requires a person's approval for a call. */
import { errorText } from "../../errors.ts";
import type { ToolCall } from "../../llm/message.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { AgentTool } from "../contract/tool.ts";
import { keyOf } from "./call-names.ts";
import type { Run } from "./run.ts";

/**
 * Returns `true` or the tool's reason when the call needs approval, otherwise undefined. Throws an
 * error with a text for the model when the tool's function fails, because the call must not run
 * then.
 */
export async function approvalNeed(
  run: Run,
  tool: AgentTool,
  call: ToolCall,
  args: unknown,
  port: RunPort,
): Promise<true | string | undefined> {
  const need = await ask(run, tool, call, args, port);
  if (need === undefined || need === false) return undefined;
  return typeof need === "string" && need !== "" ? need : true;
}

async function ask(
  run: Run,
  tool: AgentTool,
  call: ToolCall,
  args: unknown,
  port: RunPort,
): Promise<unknown> {
  if (typeof tool.needsApproval !== "function") return tool.needsApproval;
  const { signal } = run;
  const about = {
    toolCallId: call.id,
    context: run.config.toolContext,
    idempotencyKey: keyOf(run, call),
    run: port,
    signal,
  };
  try {
    return await run.grace.patiently(tool.needsApproval(args, about));
  } catch (error) {
    throw new Error(
      `Not run: could not check whether this call of ${call.name} needs a person's approval: ${errorText(error)}`,
      { cause: error },
    );
  }
}

/** Returns the text that tells the model why a call that needs approval was not run. */
export function unapproved({ name }: ToolCall, need: true | string, why: string): string {
  const reason = need === true ? "" : ` (${need})`;
  return `Not run: this call of ${name} needs a person's approval${reason}, and ${why}.`;
}
