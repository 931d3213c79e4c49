/**
 * One run, from its first event to its last. It ends with exactly one `agent_end`, even if a hook,
 * tool, listener or stream function throws.
 */
import { onAbort } from "../../clock.ts";
import { BowlineError, toErrorInfo, type ErrorCode } from "../../errors.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";
import { bestAnswer } from "./best-answer.ts";
import { Run, type RunInput } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import { turns, type EndCause } from "./turns.ts";

/**
 * Runs the loop over any effects. Rejects only when `effects.ended` fires: this attempt at the run
 * is then over, and says nothing about the run.
 */
export function runLoop(prompts: readonly AgentMessage[], input: RunInput): Promise<RunResult> {
  const { ended } = input.effects;
  if (ended === undefined) return play(new Run(input), prompts);
  return new Promise((resolve, reject) => {
    const over = (): void =>
      reject(new BowlineError("aborted", "This attempt at the run is over."));
    if (ended.aborted) return over();
    const run = new Run(input);
    const release = onAbort(ended, () => {
      run.spending.stopTimers();
      over();
    });
    void play(run, prompts).then(resolve, reject).finally(release);
  });
}

async function play(run: Run, prompts: readonly AgentMessage[]): Promise<RunResult> {
  const { emitter, newMessages: messages } = run;
  const { deadline } = run.spending;
  await emitter.emit({
    type: "agent_start",
    ...(run.isResumed && { resumed: true }),
    ...(deadline && { deadline: deadline.at }),
  });
  run.watchDeadline();
  const cause = await turns(run, prompts).catch((error) => run.stop ?? run.fail(error));
  const { reason, error } = endOf(run, cause);
  run.isEnding = true;
  const { usage } = run.spending; // tools that are left running emit no more events
  await emitter.emit({
    type: "agent_end",
    messages,
    reason,
    usage,
    ...(error && { error: toErrorInfo(error) }),
  });
  const end = endOf(run, cause); // computed again, because a listener of agent_end may have failed
  run.end(end.error === undefined);
  const { id: runId, turns: count, tools } = run;
  return {
    runId,
    messages,
    usage,
    turns: count,
    tools,
    ...end,
    text: "",
    ...bestAnswer(messages, end.reason),
  };
}

function endOf({ emitter }: Run, cause: EndCause): Pick<RunResult, "reason" | "error"> {
  const error = emitter.failure ?? cause;
  if (typeof error === "string") return { reason: error };
  return { reason: (!emitter.failure && reasons[error.code]) || "error", error };
}

const reasons: Partial<Record<ErrorCode, RunEndReason>> = {
  aborted: "aborted",
  budget_exceeded: "budget",
};
