/**
 * One execution of a tool. It always ends: when the tool does, or after its time limit or an abort
 * plus the grace period.
 */
import { errorText } from "../../errors.ts";
import { monotonicNow } from "../../clock.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { ToolStep, ToolStepResult } from "../contract/step.ts";
import { failedCall, type AgentToolResult, type SettledCall } from "../contract/tool-result.ts";
import { resultOf } from "../contract/tool-value.ts";
import { namesOf, stepOf } from "./call-names.ts";
import type { Ready } from "./preflight.ts";
import type { Run } from "./run.ts";
import { runChild, type After } from "./run-child.ts";
import { stepAbout } from "./step-about.ts";
import { leftRunning, stoppedCall, type Stopped } from "./stopped-call.ts";

/** The result, for the model, of a call that was skipped for a steering message. */
export const STEERED = "Not run: a new message from the user came first.";

/**
 * Runs the tool and then `after` as one recorded step. Never rejects: a throw becomes an error
 * result. A step that cannot be recorded stops the run.
 */
export async function runTool(run: Run, ready: Ready, after: After): Promise<SettledCall> {
  const { call, tool } = ready;
  const about = stepAbout(run, ready);
  const skipped = notToStart(run);
  if (skipped) return skipped;
  if (tool.nested && run.effects.child) return runChild(run, ready, tool.nested, after);
  // Check again, because recording the intent may have taken long.
  const execute = async (port: RunPort): Promise<ToolStepResult> =>
    notToStart(run, undefined, true) ?? after(await settle(run, ready, about, port), port);
  return run.step(stepOf(run, call), execute, about);
}

/**
 * Returns the result of a call that must not start now, because the run has to stop or a steering
 * message is queued. Otherwise returns undefined. An engine that replays is asked for queued
 * messages within the step only, whose result is recorded.
 */
export function notToStart(
  { stop, config, effects }: Run,
  why: string | undefined = stop && `Not run: ${stop.message}`,
  isInStep = false,
): SettledCall | undefined {
  if (why) return failedCall(why);
  if (effects.patience !== undefined && !isInStep) return undefined;
  return config.skipToolsOnSteering && effects.hasQueued?.("steering")
    ? failedCall(STEERED)
    : undefined;
}

async function settle(
  run: Run,
  { call, tool, args }: Ready,
  { idempotencyKey }: ToolStep,
  port: RunPort,
): Promise<SettledCall> {
  const { clock, config, emitter } = run;
  const started = monotonicNow(clock);
  const controller = new AbortController();
  const { signal } = controller;
  const releases: (() => void)[] = [];
  let updates: Promise<void> | undefined;
  let progress: AgentToolResult | undefined;
  let why = "";
  let settled = false;
  const end = await Promise.race([stopped(), execute()]);
  settled = true;
  for (const release of releases) release();
  await updates;
  return { ...end, durationMs: monotonicNow(clock) - started };

  async function execute(): Promise<Omit<SettledCall, "durationMs">> {
    try {
      const context = { context: config.toolContext, idempotencyKey, run: port };
      const given = tool.execute(call.id, args, signal, update, context);
      const result = await resultOf(given, update, signal);
      if (result.isError !== true) return { result, isError: false, outcome: "finished" };
      return { result, isError: true, outcome: signal.aborted ? "stopped" : "failed" };
    } catch (error) {
      return signal.aborted ? stoppedCall(error, soFar()) : failedCall(errorText(error), "failed");
    }
  }

  function soFar(): Stopped {
    return { why, progress, durationMs: monotonicNow(clock) - started };
  }

  /** Resolves only when the tool was signalled to stop and did not stop within the grace period. */
  function stopped(): Promise<Omit<SettledCall, "durationMs">> {
    return new Promise((resolve) => {
      const stop = (reason: string): void => {
        if (signal.aborted) return;
        why = reason;
        controller.abort(run.stop ?? new Error(why));
        releases.push(clock.setTimer(run.grace.ms, () => resolve(leftRunning(soFar()))));
      };
      releases.push(run.grace.onAbort(() => stop(run.stop?.message ?? "The run was aborted.")));
      const limit = tool.timeoutMs ?? config.toolTimeoutMs ?? 0;
      if (limit > 0)
        releases.push(clock.setTimer(limit, () => stop(`The tool took longer than ${limit} ms.`)));
    });
  }

  function update(partialResult: AgentToolResult): void {
    if (settled) return;
    progress = partialResult;
    const event = {
      type: "tool_execution_update",
      ...namesOf(call),
      args: call.arguments,
      partialResult,
    } as const;
    updates = emitter.emit(event) ?? updates;
  }
}
