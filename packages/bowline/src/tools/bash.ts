/**
 * The `bash` tool: runs a command that starts in the working directory but is not confined to it.
 */
import { tmpdir } from "node:os";
import { defineTool, type AgentTool, type AgentToolResult } from "@bowline/core";
import { CappedOutput } from "./capped-output.ts";
import type { FoundProcess } from "./command-tree.ts";
import { withoutSecrets } from "../environment.ts";
import { escapeText } from "../escape.ts";
import { findShell } from "./find-shell.ts";
import { runCommand, type CommandEnd } from "./run-command.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";
import { sandboxCommand, whyRefused } from "./sandbox.ts";
import { missingSettings, moveAway } from "./sandbox-places.ts";
import { Ticker } from "./ticker.ts";
import { createWorkspace, type ToolOptions } from "./workspace.ts";

/** The `details` of a command that was not aborted. */
export interface BashDetails {
  /** Null if a signal ended the command. */
  readonly exitCode: number | null;
  /** The signal that ended the command, if any. */
  readonly signal?: NodeJS.Signals;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** A file with the full output, if the result contains only its head and tail. */
  readonly fullOutputPath?: string;
  /** Background processes that the command left running and that were signalled to end. */
  readonly ended?: readonly FoundProcess[];
  /** Background processes that could not be ended. */
  readonly leftRunning?: readonly FoundProcess[];
}

const DEFAULT_MS = 120_000;
const DEFAULT_MAX_MS = 3_600_000;
const DEFAULT_CHARACTERS = 30_000;
/** Extra time for ending a command that is stopped just before its limit. */
const ENDING_MS = 10_000;
/**
 * The maximum output of a command, in bytes. It is far more than anyone reads; beyond it the
 * command is stopped.
 */
const MAX_OUTPUT_BYTES = 500_000_000;
const MAX_NAMED = 5;

const toParameters = (maximum: number, usual: number) =>
  ({
    type: "object",
    properties: {
      command: { type: "string", description: "The command, as bash -c takes it" },
      timeout: {
        type: "number",
        exclusiveMinimum: 0,
        maximum,
        description: `The longest it may take, in seconds (default ${usual})`,
      },
    },
    required: ["command"],
    additionalProperties: false,
  }) as const;

function whereItRuns({ sandbox }: ToolOptions): string {
  return sandbox?.kind === "bubblewrap"
    ? "It starts in the working directory, in a sandbox: it can change files only there and in its own /tmp, which is empty " +
        "at the start of each command, and it has no network."
    : "It starts in the working directory but is NOT confined to it: it can read and change whatever " +
        "the person who started this program can.";
}

export function createBashTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  const { root } = workspace;
  const {
    commandMs = DEFAULT_MS,
    maxCommandMs = Math.max(DEFAULT_MAX_MS, commandMs),
    resultCharacters = DEFAULT_CHARACTERS,
  } = options.limits ?? {};
  const usualSeconds = Math.min(commandMs, maxCommandMs) / 1000;
  const parameters = toParameters(maxCommandMs / 1000, usualSeconds);
  return defineTool<typeof parameters, BashDetails>({
    name: "bash",
    label: "Bash",
    description:
      `Runs a command with bash. ${whereItRuns(options)} ` +
      "There is no standard input. Standard output and standard error come together; " +
      "of long output the middle is left out, and all of it kept in a file that bash can read. When the command returns, what it left " +
      "running in the background is ended. Environment variables that look like secrets are removed.",
    parameters,
    executionMode: "sequential",
    // The tool enforces its own timeout, which the model may choose.
    timeoutMs: maxCommandMs + ENDING_MS,
    async execute({ command, timeout = usualSeconds }, run) {
      const { signal } = run;
      stopIfAborted(signal);
      if (command.includes("\0")) throw toolError("The command contains a NUL byte");
      const refusal = whyRefused(options.sandbox);
      if (refusal !== undefined) throw toolError(refusal);
      const env = withoutSecrets(options.env ?? process.env, options.allowedSecrets);
      const output = new CappedOutput(options.outputFolder ?? tmpdir(), resultCharacters);
      const ticker = new Ticker((text) => run.update(text));
      const started = performance.now();
      const isConfined = options.sandbox?.kind === "bubblewrap";
      const settings = isConfined ? missingSettings(root) : [];
      let end: CommandEnd;
      let moved: readonly string[];
      try {
        end = await runCommand({
          shell: findShell(env, workspace),
          wrapper: sandboxCommand(options.sandbox, { root, readable: options.outputFolder }),
          command,
          cwd: root,
          env,
          timeoutMs: timeout * 1000,
          maxOutput: MAX_OUTPUT_BYTES,
          signal,
          onOutput: (chunk) => ticker.add(output.add(chunk)),
        });
        moved = moveAway(root, settings);
      } catch (error) {
        throw startError(error, root);
      } finally {
        ticker.stop();
      }
      return toResult({
        end,
        moved,
        output,
        signal,
        timeout,
        durationMs: Math.round(performance.now() - started),
      });
    },
  });
}

interface Ended {
  readonly end: CommandEnd;
  /** Files that the command created and that were renamed. */
  readonly moved: readonly string[];
  readonly output: CappedOutput;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly durationMs: number;
}

/**
 * Returns the output, followed by notes on how the command ended. Throws for an abort, with the
 * output so far.
 */
function toResult({
  end,
  moved,
  output,
  signal,
  timeout,
  durationMs,
}: Ended): AgentToolResult<BashDetails> {
  const text = output.finish();
  const { path, isTruncated: truncated } = output;
  const { exitCode, ended, left } = end;
  const background = [...describeBackground(end), ...moved.map(describeMoved)];
  if (end.reason === "aborted") {
    const so = text === "" ? "it had printed nothing" : `its output until then:\n${text}`;
    const stopped = `The command was stopped after ${(durationMs / 1000).toFixed(1)} s (${abortReason(signal)}); ${so}`;
    throw toolError(withLines(stopped, background));
  }
  const failure = describeFailure(end, timeout);
  const lines = failure === undefined ? background : [...background, failure];
  const full = withLines(text === "" ? "[no output]" : text, lines);
  return {
    content: [{ type: "text", text: full }],
    details: {
      exitCode,
      durationMs,
      truncated,
      ...(end.signal !== null && { signal: end.signal }),
      ...(path !== undefined && { fullOutputPath: path }),
      ...(ended.length > 0 && { ended }),
      ...(left.length > 0 && { leftRunning: left }),
    },
    ...(failure !== undefined && { isError: true }),
  };
}

function describeFailure(
  { reason, exitCode, signal }: CommandEnd,
  timeout: number,
): string | undefined {
  if (reason === "timeout") return `[timed out after ${timeout} s]`;
  if (reason === "flood") return `[stopped: it printed more than ${MAX_OUTPUT_BYTES} bytes]`;
  if (signal !== null) return `[killed by ${signal}]`;
  return exitCode === 0 ? undefined : `[exit code ${exitCode}]`;
}

function withLines(text: string, lines: readonly string[]): string {
  return lines.length === 0 ? text : `${text}${text.endsWith("\n") ? "" : "\n"}${lines.join("\n")}`;
}

function describeMoved(name: string): string {
  return `[renamed to ${name}.refused: outside the sandbox git would read the settings that it names]`;
}

function describeBackground({ ended, left, isLost }: CommandEnd): string[] {
  const lines: string[] = [];
  if (ended.length > 0) lines.push(`[ended with the command: ${nameProcesses(ended)}]`);
  if (left.length > 0) lines.push(`[still running, could not be ended: ${nameProcesses(left)}]`);
  if (isLost) lines.push("[still running, could not be found: something it started]");
  return lines;
}

/** Formats a list such as "sleep (pid 12), node (pid 13) and 4 more". */
function nameProcesses(processes: readonly FoundProcess[]): string {
  const names = processes
    .slice(0, MAX_NAMED)
    .map(({ pid, name }) => `${escapeText(name)} (pid ${pid})`);
  const more = processes.length - names.length;
  return `${names.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

function startError(error: unknown, root: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "E2BIG")
    return toolError(
      "The command is too long for the operating system; write it to a file and run that",
    );
  if (code === "ENOENT" || code === "ENOTDIR")
    return toolError(
      `The command could not be started: is the working directory ${root} still there?`,
    );
  return toolError(`The command could not be started (${code ?? "unknown error"})`, error);
}
