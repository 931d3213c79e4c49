/** `bowline run`: one task, done by an agent in the current directory. */
import { access, constants } from "node:fs/promises";
import { Agent, type RunEndReason, type RunResult } from "@bowline/core";
import { createTools } from "../tools/index.ts";
import { createApprover } from "./approve.ts";
import { discoverModel } from "./discover.ts";
import { CommandError, exitCode, UsageError } from "./exit.ts";
import { runHelp } from "./help.ts";
import { readImage } from "./images.ts";
import { parseRunOptions, type RunOptions } from "./options.ts";
import { jsonReport, TextReport } from "./report.ts";
import { oneLine, styleFor } from "./terminal.ts";

const exitCodes: Readonly<Record<RunEndReason, number>> = {
  done: exitCode.done,
  length: exitCode.failed,
  error: exitCode.failed,
  budget: exitCode.budget,
  aborted: exitCode.aborted,
};

/** Gives the exit code. Throws `UsageError` and `CommandError` for what one line can explain. */
export async function run(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseRunOptions(args);
  const { stdout, stderr, env } = host;
  if (options.help) {
    stdout.write(runHelp());
    return exitCode.done;
  }
  const directory = await workingDirectory(host);
  const task = await wholeTask(options.task, host);
  const images = await Promise.all(options.images.map(readImage));
  const found = await discoverModel(options, env);
  try {
    stderr.write(`bowline: ${oneLine(found.why, 500)}\n`);
    const agent = createAgent(options, directory, found.model, found.apiKey, host);
    const report = options.json ? jsonReport(stdout) : new TextReport(stdout, stderr, styleFor(stderr, env));
    agent.subscribe((event) => report.event(event));
    const result = await untilInterrupted(agent, host, () => agent.prompt(task, images));
    report.result(result);
    if (options.json && result.error !== undefined) stderr.write(`bowline: ${oneLine(result.error.message, 1000)}\n`);
    return exitCodes[result.reason];
  } finally {
    await found.close();
  }
}

function createAgent(
  options: RunOptions,
  directory: string,
  model: Agent["state"]["model"],
  apiKey: string | undefined,
  host: NodeJS.Process,
): Agent {
  const { stdin, stderr, env } = host;
  const agent: Agent = new Agent({
    initialState: {
      systemPrompt: systemPrompt(directory),
      model,
      thinkingLevel: options.thinking,
      tools: createTools({ root: directory, env }),
    },
    ...(apiKey !== undefined && { apiKey }),
    // A person who stops a run waits two seconds at most, tools that ignore their signal included.
    abortGraceMs: 1000,
    hookTimeoutMs: 0,
    budget: {
      maxTurns: options.maxTurns,
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
      ...(options.maxCost !== undefined && { maxCost: options.maxCost }),
      ...(options.timeoutMs !== undefined && { maxTimeMs: options.timeoutMs }),
    },
    beforeToolCall: createApprover({
      yes: options.yes,
      style: styleFor(stderr, env),
      onInterrupt: () => agent.abort(),
      ...(stdin.isTTY && stderr.isTTY && { terminal: { input: stdin, output: stderr } }),
    }),
  });
  return agent;
}

/** Ctrl-C aborts the run and lets it settle; a second one leaves at once. */
async function untilInterrupted(
  agent: Agent,
  host: NodeJS.Process,
  work: () => Promise<RunResult>,
): Promise<RunResult> {
  let interrupted = false;
  const interrupt = (): void => {
    if (interrupted) host.exit(exitCode.aborted);
    interrupted = true;
    agent.abort();
  };
  host.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    return await work();
  } finally {
    host.off("SIGINT", interrupt).off("SIGTERM", interrupt);
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

/** The task from the command line, and whatever comes on standard input when that is no terminal. */
async function wholeTask(task: string, { stdin, stderr }: NodeJS.Process): Promise<string> {
  let input = "";
  if (!stdin.isTTY) {
    const hint = setTimeout(() => stderr.write("bowline: reading the rest of the task from standard input …\n"), 1000);
    stdin.setEncoding("utf8");
    for await (const chunk of stdin) input += chunk;
    clearTimeout(hint);
  }
  const whole = [task, input].filter((part) => part.trim() !== "").join("\n\n");
  if (whole.trim() === "") throw new UsageError('What is the task? bowline run "<task>", or text on standard input.');
  return whole;
}

function systemPrompt(directory: string): string {
  return `You are Bowline, an agent that works in the directory ${directory} on the user's machine.
Use the tools to find out rather than guess, and call several at once when they do not depend on each other.
File tools take paths relative to that directory and cannot leave it. A denied tool call is the user's decision: do not repeat it.
When the task is done, answer it plainly and briefly from what you found. If something could not be done, say so.`;
}
