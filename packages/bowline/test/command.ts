/** Runs the command from source as a child process, as a shell does. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { commandLine } from "./command-line.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** The whole standard input. Default: empty. */
  readonly input?: string;
  /** Whether standard input stays open after `input`. Default false. */
  readonly isInputOpen?: boolean;
  /** Shell commands to run first, such as `ulimit`. */
  readonly before?: string;
  /** Called with the child process after it has started. */
  readonly watch?: (child: ChildProcess) => void;
}

/** Upper limit of a command, far above what a busy machine needs, in milliseconds. */
const LIMIT_MS = 300_000;

/** Each test file has a temporary home, so that tests never touch the user's sessions. */
const home = mkdtempSync(join(tmpdir(), "bowline-home-"));
process.once("exit", () => rmSync(home, { recursive: true, force: true }));

/** An environment without keys, model servers or colours. */
export const bare = {
  ...compileCache,
  PATH: process.env.PATH ?? "",
  HOME: home,
  BOWLINE_HOME: join(home, "data"),
  BOWLINE_DISCOVERY: "off",
};

export function bowline(
  args: readonly string[],
  { cwd, env = {}, input, isInputOpen, before, watch }: CommandOptions = {},
): Promise<Ended> {
  const started = Date.now();
  return new Promise((resolve, reject) => {
    const line = [...commandLine, ...args];
    const [program = "", ...rest] =
      before === undefined ? line : ["bash", "-c", `${before}; exec "$@"`, "bash", ...line];
    const child = spawn(program, rest, {
      ...(cwd !== undefined && { cwd }),
      env: { ...bare, ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    watch?.(child);
    if (isInputOpen === true) child.stdin?.write(input ?? "");
    else child.stdin?.end(input);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ code, stdout, stderr, ms: Date.now() - started });
    });
  });
}

/** A new empty directory that is removed with the test. */
export async function temporary(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "bowline-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
