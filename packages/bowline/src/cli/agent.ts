/**
 * The agent of `bowline run` and `bowline replay`: what it is to do, and what it touches while it
 * does it.
 */
import {
  Agent,
  createCompaction,
  createProgressGuard,
  streamByProtocol,
  systemClock,
} from "@bowline/core";
import type {
  AgentOptions,
  AgentTool,
  Budget,
  ErrorInfo,
  ImageContent,
  Model,
  RunEndReason,
  RunResult,
  ThinkingLevel,
} from "@bowline/core";
import type { AgentSession, AnyEntry, SessionHeader } from "@bowline/core/session";
import type { Approver } from "./approve.ts";
import { exitCode } from "./exit.ts";
import { advised, jsonReport, TextReport } from "./report.ts";
import { oneLine } from "../terminal.ts";

/** What a run is to do. JSON-safe. */
export interface RunSetup {
  readonly task: string;
  readonly images: readonly ImageContent[];
  readonly systemPrompt: string;
  readonly model: Model;
  readonly thinking: ThinkingLevel;
  readonly budget: Budget;
  /** What its session held before, for a replay; absent where none was kept. */
  readonly session?: SessionContent;
}

/** JSON-safe. */
export interface SessionContent {
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
}

/** What a run touches. */
export interface RunPorts extends Pick<
  AgentOptions,
  "apiKey" | "fetch" | "clock" | "createId" | "random"
> {
  readonly tools: readonly AgentTool[];
  readonly beforeToolCall: Approver;
}

/** Long conversations are compacted, and circles are stopped: nobody may be watching. */
export function createAgent(
  { systemPrompt, model, thinking, budget }: RunSetup,
  { tools, ...ports }: RunPorts,
): Agent {
  const { clock = systemClock } = ports;
  const compaction = createCompaction({ streamOptions: { clock } });
  const guard = createProgressGuard({ now: () => clock.now() });
  return new Agent({
    initialState: { systemPrompt, model, thinkingLevel: thinking, tools: [...tools] },
    ...ports,
    streamFn: compaction.wrap(streamByProtocol),
    transformContext: async (messages, signal, run) =>
      guard(await compaction.transformContext(messages, signal, run)),
    // A person who stops a run waits two seconds at most, tools that ignore their signal included.
    abortGraceMs: 1000,
    hookTimeoutMs: 0,
    budget,
  });
}

export interface Performance {
  readonly json: boolean;
  /** Keeps the run, and may have one that has to be finished first. */
  readonly session?: AgentSession | undefined;
  /** What a person can do about a failure; undefined where the failure says it all. */
  readonly advise?: (error: ErrorInfo) => string | undefined;
}

/**
 * Finishes what the session left open, does the task, and shows it: the answers or the event log on
 * standard output, the rest on standard error. Gives the last run's result.
 */
export async function perform(
  agent: Agent,
  { task, images }: RunSetup,
  { json, session, advise }: Performance,
  { stdout, stderr, env }: NodeJS.Process,
): Promise<RunResult> {
  const report = json ? jsonReport(stdout) : new TextReport(stdout, stderr, env);
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
  if (resumed === undefined) return tell(await agent.prompt(task, images));
  tell(resumed);
  if (task === "") return resumed;
  if (resumed.reason === "done" || resumed.reason === "length")
    return tell(await agent.prompt(task, images));
  stderr.write(
    "bowline: the task was not begun, because the run before it could not be finished\n",
  );
  return resumed;
}

export const exitCodes: Readonly<Record<RunEndReason, number>> = {
  done: exitCode.done,
  length: exitCode.failed,
  error: exitCode.failed,
  budget: exitCode.budget,
  aborted: exitCode.aborted,
};
