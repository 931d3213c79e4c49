/** Performs one run and shows its answers and its end. */
import type { Agent, ErrorInfo, RunEndReason, RunResult } from "@bowline/core";
import type { AgentSession } from "@bowline/core/session";
import { ANSWER_MS, type RunSetup } from "../record/run-setup.ts";
import { oneLine } from "../terminal.ts";
import { exitCode } from "./exit.ts";
import { objectReport, quietReport } from "./final-report.ts";
import { advised, jsonReport, TextReport, type Report } from "./report.ts";
import type { OutputFormat } from "./run-options.ts";
import type { SideLog } from "./side-log.ts";
import type { Awaited } from "./waiting-line.ts";

/** The most times that hooks refuse the end of a run. */
const MAX_REFUSALS = 5;

export interface Performance {
  readonly output: OutputFormat;
  /** Print only the answer and errors. */
  readonly isQuiet: boolean;
  /** What happens to servers and hooks. */
  readonly log: SideLog;
  /** Saves the run. It may contain an interrupted run, which is finished first. */
  readonly session?: AgentSession | undefined;
  /**
   * Returns what the model has to do before the run may end, for a run that is done. `isActive`: this
   * was the case already. Default: runs end by themselves.
   */
  readonly stopping?: (isActive: boolean) => Promise<string | undefined>;
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
  shown: Performance,
  host: NodeJS.Process,
): Promise<RunResult> {
  const { task, images, files } = setup;
  const { session, advise } = shown;
  const { stdout, stderr } = host;
  const isLog = shown.output === "stream-json";
  const report = createReport(setup, shown, host);
  shown.log.through((line) => report.note(line));
  if (isLog && session !== undefined)
    stdout.write(`${JSON.stringify({ type: "session", id: session.session.id })}\n`);
  shown.log.begin();
  agent.subscribe((event) => report.event(event));
  const tell = (result: RunResult): RunResult => {
    const advice = result.error && advise?.(result.error);
    report.result(result, advice);
    if (isLog && result.error !== undefined)
      stderr.write(`bowline: ${oneLine(advised(result.error.message, advice), 1200)}\n`);
    return result;
  };
  /** Goes on for as long as a hook refuses the end. With `json`, one object is the end. */
  const whole = async (first: RunResult): Promise<RunResult> => {
    let last = first;
    for (let count = 0; last.reason === "done" && count < MAX_REFUSALS; count++) {
      const more = await shown.stopping?.(count > 0);
      if (more === undefined) break;
      if (shown.output !== "json") tell(last);
      last = await agent.prompt(`[A hook does not let the run end yet]\n${more}`);
    }
    return tell(last);
  };
  const resumed = await session?.resume();
  if (resumed === undefined)
    return whole(await (task === "" ? agent.continue() : agent.prompt(task, { images, files })));
  const canGoOn = resumed.reason === "done" || resumed.reason === "length";
  // One object at the end: that of the task, if it is started.
  if (shown.output !== "json" || task === "" || !canGoOn) tell(resumed);
  if (task === "") return resumed;
  if (canGoOn) return whole(await agent.prompt(task, { images, files }));
  stderr.write(
    "bowline: the task was not started, because the run before it could not be finished\n",
  );
  return resumed;
}

function createReport(
  setup: RunSetup,
  { output, isQuiet, session, log }: Performance,
  { stdout, stderr, env }: NodeJS.Process,
): Report {
  switch (output) {
    case "text":
      return isQuiet
        ? quietReport(stdout, stderr)
        : new TextReport(stdout, stderr, env, awaitedIn(setup));
    case "json":
      return objectReport(stdout, stderr, session?.session, log);
    case "stream-json":
      return jsonReport(stdout, stderr);
  }
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
