/** Records a tool call in the log. */
import type { ToolStepResult } from "../agent/contract/step.ts";
import type { EntryBody } from "./entry.ts";
import { inJson, unwritable } from "./recorded-calls.ts";
import type { RunLog } from "./run-log.ts";

type ToolIntent = Extract<EntryBody, { type: "tool_intent" }>;

/** Writes the intent, runs the call, writes its result, and resolves with the result. */
export async function recordCall(
  log: RunLog,
  intent: ToolIntent,
  run: () => Promise<unknown>,
): Promise<ToolStepResult> {
  const { runId, toolCallId, idempotencyKey } = intent;
  await log.add(intent, () => ({ ...intent, args: inJson(intent.args) }));
  let result = (await run()) as ToolStepResult;
  const entry = (): EntryBody => {
    const { isError } = result;
    return { type: "tool_result", runId, toolCallId, idempotencyKey, result, isError };
  };
  await log.add(entry(), (error) => {
    result = unwritable(result, error);
    return entry();
  });
  return result;
}
