/** Runs a line that the person typed after `!`, in the working directory, as a shell would. */
import { existsSync } from "node:fs";
import { createSecretFilter, secretsOf } from "../secrets.ts";
import { runCommand, type CommandEnd } from "../tools/run-command.ts";
import type { ShellBlock } from "./block.ts";

export interface ShellLine {
  readonly command: string;
  /** `!!`: the model does not get the line and its output. */
  readonly isHidden: boolean;
}

/** Returns undefined if the text is no line for the shell. */
export function parseShellLine(text: string): ShellLine | undefined {
  const [, marks = "", command = ""] = /^(!!?)([^]*)$/.exec(text) ?? [];
  if (marks === "" || command.trim() === "") return undefined;
  return { command: command.trim(), isHidden: marks === "!!" };
}

/** The output that is kept, from its end, in characters. */
const MAX_KEPT = 30_000;
const MAX_OUTPUT_BYTES = 500_000_000;
const LIMIT_MS = 24 * 3_600_000;

/** Keys in the output are redacted before anybody else gets it. */
export async function runShellLine(
  { command, isHidden }: ShellLine,
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  onOutput: (text: string) => void,
): Promise<ShellBlock> {
  const decoder = new TextDecoder();
  const secrets = createSecretFilter(secretsOf(env, []));
  let output = "";
  let dropped = 0;
  const end = await runCommand({
    shell: shellOf(env),
    command,
    cwd: directory,
    env: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    timeoutMs: LIMIT_MS,
    maxOutput: MAX_OUTPUT_BYTES,
    signal,
    onOutput: (chunk) => {
      const text = decoder.decode(chunk, { stream: true });
      output += text;
      if (output.length > MAX_KEPT * 2) {
        dropped += output.length - MAX_KEPT;
        output = output.slice(-MAX_KEPT);
      }
      onOutput(output);
    },
  });
  const cut = dropped === 0 ? "" : `[${dropped} earlier characters are left out]\n`;
  return {
    type: "shell",
    command,
    output: secrets.text(cut + output),
    end: endText(end),
    isHidden,
  };
}

function shellOf({ SHELL = "" }: Readonly<Record<string, string | undefined>>): string {
  const isUsual = /\/(?:ba|z|da|k)?sh$/.test(SHELL);
  return isUsual && existsSync(SHELL) ? SHELL : existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}

function endText({ reason, exitCode, signal }: CommandEnd): string {
  if (reason === "aborted") return "interrupted";
  if (reason === "flood") return "stopped: it printed too much";
  if (reason === "timeout") return "stopped: it ran too long";
  return signal === null ? `exit code ${exitCode ?? "unknown"}` : `killed by ${signal}`;
}
