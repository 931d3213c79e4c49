/** `bowline run`: does one task in the current directory. */
import { access, constants } from "node:fs/promises";
import { whyNotSent } from "@bowline/core";
import type {
  AgentTool,
  Budget,
  ErrorInfo,
  FileContent,
  ImageContent,
  Model,
  RunResult,
} from "@bowline/core";
import { attachSession, type AnyEntry, type Session } from "@bowline/core/session";
import type { RunSetup, SessionContent } from "../record/run-setup.ts";
import { exitCodes, perform } from "./perform.ts";
import type { Discovered } from "../models/discover.ts";
import type { Servers } from "../mcp/servers.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { deadlineOf, findModel, type Deadline } from "./find-model.ts";
import { runHelp } from "./help.ts";
import { isAboutKey, keyAdvice } from "../models/key-advice.ts";
import { onSignal } from "./on-signal.ts";
import { readInputFile } from "./files.ts";
import { readImage } from "./images.ts";
import { parseRunOptions, type RunOptions } from "./run-options.ts";
import { assertWritable, kept } from "./record.ts";
import { agentOf, portsOf } from "./run-agent.ts";
import { admit, createRunHooks, type Admitted } from "./run-hooks.ts";
import { startServers, waitForServers } from "./run-servers.ts";
import { openRunTools } from "./open-run-tools.ts";
import { openTerminal } from "./open-terminal.ts";
import { openProject, type RunProject } from "./run-project.ts";
import type { OutputFolder } from "./output-folder.ts";
import { openRunSession, type RunSession } from "./run-session.ts";
import { oneLine } from "../terminal.ts";
import { SideLog } from "./side-log.ts";
import { wholeTask } from "./whole-task.ts";
import { howItEnded, whereItStood } from "./where-it-stood.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function run(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseRunOptions(args);
  if (options.help) {
    host.stdout.write(runHelp());
    return exitCode.done;
  }
  const deadline = deadlineOf(options);
  const directory = await workingDirectory(host);
  const task = await wholeTask(options.task, host, deadline?.signal);
  if (task === undefined) {
    host.stderr.write("bowline: Standard input did not end within the time of --timeout.\n");
    return exitCode.budget;
  }
  const images = await Promise.all(options.images.map(readImage));
  const files = await Promise.all(options.files.map(readInputFile));
  if (options.record !== undefined) assertWritable(options.record);
  const opened = await openProject(options, directory, host.env);
  const keeping = await openRunSession({ ...options, server: opened.server }, directory, host);
  try {
    assertSomethingToDo(task, options, keeping);
    const job = { task, images, files, opened, keeping, deadline };
    return await withServers(options, job, host);
  } finally {
    await keeping.end();
  }
}

interface Job {
  readonly task: string;
  readonly images: readonly ImageContent[];
  readonly files: readonly FileContent[];
  readonly opened: RunProject;
  readonly keeping: RunSession;
  readonly deadline: Deadline | undefined;
}

/** Starts the MCP servers, which then have the time in which the model is found. */
async function withServers(options: RunOptions, job: Job, host: NodeJS.Process): Promise<number> {
  const log = new SideLog(options.output, host);
  const servers = startServers(options, job.opened.project, log, host);
  try {
    return await discovered(options, { ...job, servers, log }, host);
  } finally {
    log.begin(); // also if the run did not begin
    await servers.close();
  }
}

async function discovered(
  options: RunOptions,
  job: Job & { readonly servers: Servers; readonly log: SideLog },
  host: NodeJS.Process,
): Promise<number> {
  const { keeping, opened, deadline, servers, log } = job;
  const { stderr, env } = host;
  const tell = (line: string): void => {
    if (!options.isQuiet) stderr.write(`bowline: ${oneLine(line, 1000)}\n`);
  };
  for (const notice of opened.notices) tell(notice);
  const found = await findModel(keeping.wanted(), options.retryMs, deadline, host);
  if (typeof found === "number") return found;
  const { terminal, close } = openTerminal(host);
  let outputs: OutputFolder | undefined;
  let session: Session | undefined;
  const sessionId = (): string => session?.id ?? keeping.earlierId ?? "";
  const hooks = createRunHooks({ options, project: opened.project, log, sessionId }, host);
  try {
    tell(oneLine(found.why, 500));
    const made = await openRunTools(options, opened, {
      found,
      host,
      terminal,
      tell,
      onInterrupt: () => abort(),
      setup: () => setup,
      servers,
      hooks,
    });
    ({ outputs } = made);
    await waitForServers(servers, deadline, log, host);
    const tools = made.tools();
    const admitted = await admit(hooks, job.task, keeping.earlierId !== undefined);
    if (admitted === undefined) return exitCode.failed;
    session = await keeping.begin(found.model);
    const before =
      options.record === undefined || session === undefined ? undefined : await contentOf(session);
    const setup = setupOf(options, job, { model: found.model, tools, session: before, admitted });
    const interrupted = new AbortController();
    const abort = (): void => {
      interrupted.abort();
      if (recorder === undefined) agent.abort();
      else recorder.interrupt(() => agent.abort());
    };
    const ports = portsOf(tools, found, made.approve);
    const { agent, recorder, ...limits } = agentOf(options, { setup, ports, hooks, tell }, env);
    if (recorder !== undefined) keeping.through(recorder.through);
    // A recorded run keeps the tools with which it began.
    if (recorder === undefined) servers.onChanged(() => (agent.state.tools = made.tools()));
    const attached =
      session &&
      (await attachSession(agent, session, { saveStreamedText: recorder === undefined }));
    const earlier = earlierRun(job);
    if (earlier !== undefined) tell(earlier);
    const { output, isQuiet } = options;
    const stopping = async (isActive: boolean): Promise<string | undefined> =>
      limits.isStoppable ? hooks.stopping(isActive, interrupted.signal) : undefined;
    const shown = { output, isQuiet, session: attached, advise: adviserOf(found), log, stopping };
    const work = (): Promise<RunResult> =>
      untilInterrupted(abort, host, () => perform(agent, setup, shown, host));
    const result = await (recorder === undefined
      ? work()
      : kept(recorder, options.record ?? "", host, work));
    return exitCodes[result.reason];
  } finally {
    close();
    await outputs?.close();
    await found.close();
  }
}

/** Returns a function that says what a person can do about a failure. */
function adviserOf({ keyFrom }: Discovered): (error: ErrorInfo) => string | undefined {
  return (error) => (isAboutKey(error) ? keyAdvice(keyFrom) : undefined);
}

/** Describes the earlier run that this one continues. */
function earlierRun({ task, keeping }: Job): string | undefined {
  const { interrupted, unanswered } = keeping;
  if (interrupted !== undefined) return whereItStood(interrupted);
  return unanswered !== undefined && task === "" ? howItEnded(unanswered) : undefined;
}

interface SetupParts {
  readonly model: Model;
  readonly tools: readonly AgentTool[];
  readonly session: SessionContent | undefined;
  readonly admitted: Admitted;
}

function setupOf(
  { maxTurns, maxTokens, maxCost, retryMs, system, appendSystem }: RunOptions,
  { images, files, opened, deadline }: Job,
  { model, tools, session, admitted }: SetupParts,
): RunSetup {
  for (const file of files) {
    const why = whyNotSent(model, file); // before a session has a message that no request can hold
    if (why !== undefined) throw new UsageError(`--file ${file.name}: ${why}`);
  }
  const budget: Budget = {
    maxTurns,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
    ...(deadline !== undefined && { maxTimeMs: deadline.leftMs() }),
  };
  const before = session === undefined ? {} : { session };
  const { project, thinking } = opened;
  const appended = [project.settings.merged.appendSystem, appendSystem, admitted.context].filter(
    (text) => text !== undefined && text !== "",
  );
  return {
    task: admitted.task,
    images,
    ...(files.length > 0 && { files }),
    systemPrompt: project.systemPrompt({
      tools: tools.map(({ name }) => name),
      ...(system !== undefined && { system }),
      ...(appended.length > 0 && { appendSystem: appended.join("\n\n") }),
    }),
    model,
    thinking,
    budget,
    retryMs,
    ...before,
  };
}

async function contentOf(session: Session): Promise<SessionContent> {
  const entries: AnyEntry[] = [];
  for await (const entry of session.entries()) entries.push(entry);
  return { header: session.header, entries };
}

/** Throws `UsageError` if there is neither a task nor a run to continue. */
function assertSomethingToDo(
  task: string,
  { images, files, keep }: RunOptions,
  { interrupted, unanswered }: RunSession,
): void {
  if (task !== "") return;
  const how = 'bowline run "<task>", or text on standard input';
  if (images.length + files.length > 0 || keep === "new" || keep === "none")
    throw new UsageError(`What is the task? ${how}.`);
  if (interrupted === undefined && unanswered === undefined)
    throw new UsageError(`The session has no interrupted run. What is the task? ${how}.`);
}

/** Aborts the run on Ctrl-C and waits for it to settle; a second Ctrl-C exits at once. */
async function untilInterrupted(
  abort: () => void,
  host: NodeJS.Process,
  work: () => Promise<RunResult>,
): Promise<RunResult> {
  const release = onSignal(host, abort);
  try {
    return await work();
  } finally {
    release();
  }
}

async function workingDirectory(host: NodeJS.Process): Promise<string> {
  try {
    const directory = host.cwd();
    await access(directory, constants.R_OK | constants.X_OK);
    return directory;
  } catch (error) {
    throw new CommandError(
      `The working directory cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}).`,
    );
  }
}
