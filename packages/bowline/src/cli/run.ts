/** `bowline run`: does one task in the current directory. */
import { access, constants } from "node:fs/promises";
import { whyNotSent } from "@bowline/core";
import type { Budget, ErrorInfo, FileContent, ImageContent, Model, RunResult } from "@bowline/core";
import { attachSession, type AnyEntry, type Session } from "@bowline/core/session";
import { secretsOf } from "../secrets.ts";
import { recordRun } from "../record/record-run.ts";
import { createTools } from "../tools/index.ts";
import {
  createAgent,
  type Approver,
  type RunPorts,
  type RunSetup,
  type SessionContent,
} from "../record/run-setup.ts";
import { exitCodes, perform } from "./perform.ts";
import { createApprover } from "./approve.ts";
import { createListPatience } from "./list-patience.ts";
import { discoverModel, type Discovered } from "../models/discover.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { runHelp } from "./help.ts";
import { isAboutKey, keyAdvice } from "../models/key-advice.ts";
import { onSignal } from "./on-signal.ts";
import { readInputFile } from "./files.ts";
import { readImage } from "./images.ts";
import { parseRunOptions, type RunOptions } from "./options.ts";
import { assertWritable, kept } from "./record.ts";
import { openTerminal } from "./open-terminal.ts";
import { openOutputFolder, type OutputFolder } from "./output-folder.ts";
import { openRunSession, type RunSession } from "./run-session.ts";
import { oneLine, styleFor } from "../terminal.ts";
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
  const keeping = await openRunSession(options, directory, host);
  try {
    assertSomethingToDo(task, options, keeping);
    return await discovered(options, { task, images, files, directory, keeping, deadline }, host);
  } finally {
    await keeping.end();
  }
}

interface Job {
  readonly task: string;
  readonly images: readonly ImageContent[];
  readonly files: readonly FileContent[];
  readonly directory: string;
  readonly keeping: RunSession;
  readonly deadline: Deadline | undefined;
}

/** The deadline of `--timeout`, counted from the start of the command. */
interface Deadline {
  readonly signal: AbortSignal;
  leftMs(): number;
}

function deadlineOf({ timeoutMs }: RunOptions): Deadline | undefined {
  if (timeoutMs === undefined) return undefined;
  const begun = performance.now();
  return {
    signal: AbortSignal.timeout(timeoutMs),
    // In whole seconds, since the message of a run that ends there names the number.
    leftMs: () => Math.max(1, timeoutMs - Math.floor((performance.now() - begun) / 1000) * 1000),
  };
}

/** Returns the model, or an exit code if the command ended before one was found. */
async function findModel(
  { retryMs }: RunOptions,
  { keeping, deadline }: Job,
  host: NodeJS.Process,
): Promise<Discovered | number> {
  const patience = createListPatience(retryMs, host, deadline?.signal);
  try {
    const found = await discoverModel(keeping.wanted(), host.env, patience);
    patience.found();
    return found;
  } catch (error) {
    if (patience.isStopped()) return exitCode.aborted;
    if (deadline?.signal.aborted !== true) throw error;
    patience.end();
    host.stderr.write("bowline: The server listed no models within the time of --timeout.\n");
    return exitCode.budget;
  } finally {
    patience.end();
  }
}

async function discovered(options: RunOptions, job: Job, host: NodeJS.Process): Promise<number> {
  const { directory, keeping } = job;
  const { stderr, env } = host;
  const found = await findModel(options, job, host);
  if (typeof found === "number") return found;
  const { terminal, close } = openTerminal(host);
  let outputs: OutputFolder | undefined;
  try {
    stderr.write(`bowline: ${oneLine(found.why, 500)}\n`);
    const session = await keeping.begin(found.model);
    const before =
      options.record === undefined || session === undefined ? undefined : await contentOf(session);
    const setup = setupOf(options, job, found.model, before);
    const abort = (): void =>
      recorder === undefined ? agent.abort() : recorder.interrupt(() => agent.abort());
    const approve = createApprover({
      yes: options.yes,
      style: styleFor(stderr, env),
      onInterrupt: abort,
      ...(terminal !== undefined && { terminal }),
    });
    outputs = await openOutputFolder(env, session !== undefined);
    const ports = portsOf({ directory, outputs: outputs.path }, found, env, approve);
    const recorder =
      options.record === undefined ? undefined : recordRun(setup, ports, secretsOf(env, []));
    if (recorder !== undefined) keeping.through(recorder.through);
    const agent = createAgent(setup, recorder?.ports ?? ports);
    const attached =
      session &&
      (await attachSession(agent, session, { saveStreamedText: recorder === undefined }));
    const earlier = earlierRun(job);
    if (earlier !== undefined) stderr.write(`bowline: ${earlier}\n`);
    const advise = (error: ErrorInfo): string | undefined =>
      isAboutKey(error) ? keyAdvice(found.keyFrom) : undefined;
    const shown = { json: options.json, session: attached, advise };
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

/** Describes the earlier run that this one continues. */
function earlierRun({ task, keeping }: Job): string | undefined {
  const { interrupted, unanswered } = keeping;
  if (interrupted !== undefined) return whereItStood(interrupted);
  return unanswered !== undefined && task === "" ? howItEnded(unanswered) : undefined;
}

function setupOf(
  { thinking, maxTurns, maxTokens, maxCost, retryMs }: RunOptions,
  { task, images, files, directory, deadline }: Job,
  model: Model,
  session: SessionContent | undefined,
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
  return {
    task,
    images,
    ...(files.length > 0 && { files }),
    systemPrompt: systemPrompt(directory),
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

function portsOf(
  { directory, outputs }: { readonly directory: string; readonly outputs: string },
  { apiKey, fetch }: Discovered,
  env: NodeJS.ProcessEnv,
  beforeToolCall: Approver,
): RunPorts {
  return {
    tools: createTools({ root: directory, env, outputFolder: outputs }),
    beforeToolCall,
    ...(apiKey !== undefined && { apiKey }),
    ...(fetch !== undefined && { fetch }),
  };
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

function systemPrompt(directory: string): string {
  return `You are Bowline, an agent that works in the directory ${directory} on the user's machine.
Use the tools to find out rather than guess, and call several at once when they do not depend on each other.
File tools take paths relative to that directory and cannot leave it. A denied tool call is the user's decision: do not repeat it.
When the task is done, answer it plainly and briefly from what you found. If something could not be done, say so.`;
}
