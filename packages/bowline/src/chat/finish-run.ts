/** Goes on after a run for what came at its very end. */
import type { RunResult } from "@bowline/core";
import type { Runtime } from "./runtime.ts";
import type { Waiting } from "./waiting.ts";

/** The most times that hooks refuse the end of a run. */
const MAX_REFUSALS = 5;

/**
 * A message that was queued at the very end of a run begins the next one. So does a hook that
 * refuses the end, a few times. Returns the last run's result.
 */
export async function finishRun(
  first: RunResult,
  {
    runtime,
    waiting,
    signal,
  }: { readonly runtime: Runtime; readonly waiting: Waiting; readonly signal: AbortSignal },
): Promise<RunResult> {
  const { agent } = runtime;
  let last = first;
  for (let refusals = 0; last.reason === "done" && !signal.aborted;) {
    if (waiting.isQueued && agent.hasQueuedMessages()) {
      last = await agent.continue();
      continue;
    }
    if (refusals === MAX_REFUSALS) break;
    const more = await runtime.stopping(refusals > 0, signal);
    if (more === undefined || signal.aborted) break;
    refusals += 1;
    last = await agent.prompt(`[A hook does not let the run end yet]\n${more}`);
  }
  return last;
}
