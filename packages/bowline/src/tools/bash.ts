/** The `bash` tool: a command in the working directory. It is not confined to it. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { defineTool, type AgentTool, type AgentToolResult } from "@bowline/core";
import { CappedOutput } from "./capped-output.ts";
import { withoutSecrets } from "./environment.ts";
import { runCommand, type CommandEnd } from "./run-command.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";
import { Ticker } from "./ticker.ts";
import { createWorkspace, type ToolOptions } from "./workspace.ts";

interface BashDetails {
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** A file with all of the output, when the result has only its head and tail. */
  readonly fullOutputPath?: string;
}

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;

const parameters = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command, as bash -c takes it" },
    timeout: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: MAX_SECONDS,
      description: `The longest it may take, in seconds (default ${DEFAULT_SECONDS})`,
    },
  },
  required: ["command"],
  additionalProperties: false,
} as const;

export function createBashTool(options: ToolOptions): AgentTool {
  const { root } = createWorkspace(options);
  return defineTool<typeof parameters, BashDetails>({
    name: "bash",
    label: "Bash",
    description:
      "Runs a command with bash. It starts in the working directory but is NOT confined to it: it can read and change whatever " +
      "the person who started this program can. There is no standard input. Standard output and standard error come together; " +
      "of long output the middle is left out and kept in a file. When the command returns, what it left running is ended. " +
      "Environment variables that look like secrets are removed.",
    parameters,
    executionMode: "sequential",
    // The tool keeps its own time, which the model may choose.
    timeoutMs: (MAX_SECONDS + 10) * 1000,
    async execute({ command, timeout = DEFAULT_SECONDS }, run) {
      const { signal } = run;
      stopIfAborted(signal);
      if (command.includes("\0")) throw toolError("The command contains a NUL byte");
      const env = withoutSecrets(options.env ?? process.env);
      const output = new CappedOutput();
      const ticker = new Ticker((text) => run.update(text));
      const decoder = new TextDecoder();
      const add = (text: string): void => {
        output.add(text);
        ticker.add(text);
      };
      const started = performance.now();
      let end: CommandEnd;
      try {
        end = await runCommand({
          shell: findShell(env),
          command,
          cwd: root,
          env,
          timeoutMs: timeout * 1000,
          signal,
          onOutput: (chunk) => add(decoder.decode(chunk, { stream: true })),
        });
      } catch (error) {
        throw startError(error, root);
      } finally {
        add(decoder.decode());
        ticker.stop();
      }
      return toResult({ end, output, signal, timeout, durationMs: Math.round(performance.now() - started) });
    },
  });
}

interface Ended {
  readonly end: CommandEnd;
  readonly output: CappedOutput;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly durationMs: number;
}

/** The output, and after a failure one line more. An abort throws, with what there was until then. */
function toResult({ end, output, signal, timeout, durationMs }: Ended): AgentToolResult<BashDetails> {
  const text = output.finish();
  if (end.reason === "aborted") {
    const so = text === "" ? "it had printed nothing" : `its output until then:\n${text}`;
    throw toolError(`The command was stopped after ${durationMs} ms (${abortReason(signal)}); ${so}`);
  }
  const failure = describeFailure(end, timeout);
  const body = text === "" ? "[no output]" : text;
  const full = failure === undefined ? body : `${body}${body.endsWith("\n") ? "" : "\n"}${failure}`;
  const { path } = output;
  return {
    content: [{ type: "text", text: full }],
    details: {
      exitCode: end.exitCode,
      durationMs,
      truncated: output.isTruncated,
      ...(path !== undefined && { fullOutputPath: path }),
    },
    ...(failure !== undefined && { isError: true }),
  };
}

function describeFailure({ reason, exitCode, signal }: CommandEnd, timeout: number): string | undefined {
  if (reason === "timeout") return `[timed out after ${timeout} s]`;
  if (signal !== null) return `[killed by ${signal}]`;
  return exitCode === 0 ? undefined : `[exit code ${exitCode}]`;
}

/** The first bash of the search path, relative entries left out: a working directory may hold a "bash" of its own. */
function findShell({ PATH = "" }: Record<string, string>): string {
  const folders = [...PATH.split(":").filter((folder) => isAbsolute(folder)), "/bin", "/usr/bin"];
  return folders.map((folder) => join(folder, "bash")).find((path) => existsSync(path)) ?? "/bin/sh";
}

function startError(error: unknown, root: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "E2BIG")
    return toolError("The command is too long for the operating system; write it to a file and run that");
  if (code === "ENOENT")
    return toolError(`The command could not be started: is the working directory ${root} still there?`);
  return toolError(`The command could not be started (${code ?? "unknown error"})`, error);
}
