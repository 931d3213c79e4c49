/** Runs one hook: a program with the event on standard input, bounded in time and output. */
import { withoutSecrets } from "../environment.ts";
import type { HookCommand, HookEvent } from "../settings/keys.ts";
import { findShell } from "../tools/find-shell.ts";
import { runCommand, type CommandEnd } from "../tools/run-command.ts";
import { readAnswer, type HookAnswer } from "./hook-answer.ts";

const DEFAULT_SECONDS = 60;
/** More output than this ends the hook. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

export interface HookPlace {
  /** The project's root, in which hooks run. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Never rejects: what went wrong is in the answer. The hook ends with everything that it started. */
export async function runHook(
  event: HookEvent,
  { command, timeout = DEFAULT_SECONDS }: HookCommand,
  input: object,
  { root, env }: HookPlace,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const variables = { ...withoutSecrets(env), CLAUDE_PROJECT_DIR: root };
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  let end: CommandEnd;
  try {
    end = await runCommand({
      shell: findShell(variables, { name: root, root }),
      command,
      cwd: root,
      env: variables,
      timeoutMs: timeout * 1000,
      maxOutput: MAX_OUTPUT_BYTES,
      signal,
      input: JSON.stringify(input),
      onOutput: (chunk) => stdout.push(chunk),
      onErrorOutput: (chunk) => stderr.push(chunk),
    });
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    return { failure: `it cannot be started (${code}).` };
  }
  switch (end.reason) {
    case "timeout":
      return { failure: `it was stopped after its time limit of ${timeout} s, without an answer.` };
    case "flood":
      return { failure: "it was stopped because it printed more than 1 MB." };
    case "aborted":
      return {};
    case "exited":
      return readAnswer(event, {
        exitCode: end.exitCode,
        signal: end.signal,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      });
  }
}
