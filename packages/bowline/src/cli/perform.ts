/** Performs one run and shows its answers and its end. */
import type { Agent, ErrorInfo, RunEndReason, RunResult } from "@bowline/core";
import type { AgentSession } from "@bowline/core/session";
import { ANSWER_MS, type RunSetup } from "../record/run-setup.ts";
import { oneLine } from "../terminal.ts";
import { exitCode } from "./exit.ts";
import { advised, jsonReport, TextReport } from "./report.ts";
import type { Awaited } from "./waiting-line.ts";

export interface Performance {
  readonly json: boolean;
  /** Saves the run. It may contain an interrupted run, which is finished first. */
  readonly session?: AgentSession | undefined;
  /** Returns what a person can do about a failure; undefined if the error's message is enough. */
  readonly advise?: (error: ErrorInfo) => string | undefined;
}

/**
 * Finishes the session's interrupted run, then does the task. Writes answers or the event log to
 * standard output, the rest to standard error. Returns the last run's result.
 */
export async function perform(
  agent: Agent,
  setup: RunSetup,
  { json, session, advise }: Performance,
  { stdout, stderr, env }: NodeJS.Process,
): Promise<RunResult> {
  const { task, images, files } = setup;
  const report = json ? jsonReport(stdout) : new TextReport(stdout, stderr, env, awaitedIn(setup));
  if (json && session !== undefined)
    stdout.write(`${JSON.stringify({ type: "session", id: session.session.id })}\n`);
  agent.subscribe((event) => report.event(event));
  const tell = (result: RunResult): RunResult => {
    const advice = result.error && advise?.(result.error);
    report.result(result, advice);
    if (json && result.error !== undefined)
      stderr.write(`bowline: ${oneLine(advised(result.error.message, advice), 1200)}\n`);
    return result;
  };
  const resumed = await session?.resume();
  if (resumed === undefined)
    return tell(await (task === "" ? agent.continue() : agent.prompt(task, { images, files })));
  tell(resumed);
  if (task === "") return resumed;
  if (resumed.reason === "done" || resumed.reason === "length")
    return tell(await agent.prompt(task, { images, files }));
  stderr.write(
    "bowline: the task was not started, because the run before it could not be finished\n",
  );
  return resumed;
}

function awaitedIn({ model, budget, retryMs }: RunSetup): Awaited {
  const answerMs = Math.min(ANSWER_MS, budget.maxTimeMs ?? ANSWER_MS);
  return { server: new URL(model.baseUrl).host, answerMs, retryMs };
}

export const exitCodes: Readonly<Record<RunEndReason, number>> = {
  done: exitCode.done,
  length: exitCode.failed,
  error: exitCode.failed,
  budget: exitCode.budget,
  aborted: exitCode.aborted,
};
