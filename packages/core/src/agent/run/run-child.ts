/** The call of an agent tool whose nested run the effects run instead of a step. */
import { errorText, toBowlineError, toErrorInfo } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { ChildResult, ChildRun } from "../contract/effects.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { NestedTool } from "../contract/tool.ts";
import { failedCall, type SettledCall } from "../contract/tool-result.ts";
import { stepOf } from "./call-names.ts";
import { portTo } from "./port-to.ts";
import type { Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { stepAbout } from "./step-about.ts";
import { StepChanges } from "./step-changes.ts";

/** Applies `afterToolCall`. */
export type After = (settled: SettledCall, port: RunPort) => Promise<SettledCall>;

/** Runs the nested run through the effects, and then `after`. Never rejects. */
export async function runChild(
  run: Run,
  ready: Ready,
  nested: NestedTool,
  after: After,
): Promise<SettledCall> {
  const { call, tool, args } = ready;
  const about = stepAbout(run, ready);
  const started = run.now();
  let isHere = false;
  const here = async (): Promise<ChildResult> => {
    isHere = true; // it draws on the run's budget itself
    const changes = new StepChanges(run.spending.budget, run.context.messages);
    const { idempotencyKey } = about;
    const context = { context: run.config.toolContext, idempotencyKey, run: portTo(run, changes) };
    try {
      return await nested.start(call.id, args, run.signal, context);
    } catch (error) {
      return { error: toErrorInfo(toBowlineError(error, "internal_error")) };
    }
  };
  const timeoutMs = tool.timeoutMs ?? run.config.toolTimeoutMs;
  const start: ChildRun = { about, signal: run.signal, here, ...defined({ timeoutMs }) };
  let settled: SettledCall;
  try {
    const { effects } = run;
    const result = await run.effect(() => effects.child?.(stepOf(run, call), start) ?? here());
    if ("turns" in result && !isHere) run.spending.addNested(result);
    settled = settledOf(run, nested, result);
  } catch (error) {
    return failedCall(run.fail(toBowlineError(error, "storage_failed")).message, "unknown");
  }
  settled = { ...settled, durationMs: run.now() - started };
  if (!run.config.afterToolCall) return settled;
  return run.decide(`after:${run.turns}:${call.id}`, (port) => after(settled, port));
}

function settledOf(run: Run, nested: NestedTool, given: ChildResult): SettledCall {
  try {
    const result = nested.toResult(given);
    return { result, isError: false, outcome: "finished", durationMs: 0 };
  } catch (error) {
    return failedCall(errorText(error), run.signal.aborted ? "stopped" : "failed");
  }
}
