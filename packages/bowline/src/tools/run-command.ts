/**
 * Runs one command until it and its processes have ended. The promise settles whatever the command
 * does.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { CommandLimits, type Limits } from "./command-limits.ts";
import {
  LEASH,
  MARK_VARIABLE,
  signalTree,
  toTree,
  type CommandTree,
  type FoundProcess,
  type Signalled,
} from "./command-tree.ts";
import { startGuard, type Guard } from "./guard.ts";
import { LiveCommand } from "./live-command.ts";

export interface CommandOptions extends Limits {
  readonly shell: string;
  /** A program and its arguments that run the shell, such as a sandbox. Default: none. */
  readonly wrapper?: readonly string[];
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Standard output and standard error, in the order of writing. */
  readonly onOutput: (chunk: Buffer) => void;
  /** Gets standard error, which `onOutput` then does not get. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
  /** The whole standard input. Default: none. */
  readonly input?: string;
  /** Default: the current platform. Only Linux shows which processes belong to a command. */
  readonly platform?: NodeJS.Platform;
}

export interface CommandEnd {
  readonly reason: "exited" | "timeout" | "aborted" | "flood";
  /** Null if a signal ended the command or it did not end. Node reports 0 for real-time signals. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /**
   * Background processes at the command's exit. They were told to end and are killed if they do
   * not.
   */
  readonly ended: readonly FoundProcess[];
  /** Processes that still run: they may not be signalled, or survived SIGKILL. */
  readonly left: readonly FoundProcess[];
  /** True if a process still runs that could not be found. */
  readonly isLost: boolean;
}

/**
 * How long to wait for output after the command has exited. A background process may hold the pipe
 * open.
 */
const OUTPUT_GRACE_MS = 200;
const LOOK_AGAIN_MS = 30;
/** Number of checks. One check can miss a process that forks and exits continuously. */
const LOOKS = 3;
/** Time from SIGTERM to SIGKILL for background processes. */
const BACKGROUND_GRACE_MS = 2_000;

/** Rejects only if the command cannot be started. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const mark = randomUUID();
  const guard = startGuard(mark, options.platform ?? process.platform);
  try {
    return await run(options, mark, guard);
  } catch (error) {
    guard.dismiss();
    throw error;
  }
}

async function run(options: CommandOptions, mark: string, guard: Guard): Promise<CommandEnd> {
  const child = start(options, mark);
  if (child.pid === undefined) throw (await once(child, "error"))[0];
  const tree = toTree(child.pid, mark, options.platform ?? process.platform);
  const command = new LiveCommand(tree, guard);
  const limits = new CommandLimits(command, options);
  child.stdout.on("data", (chunk: Buffer) => {
    options.onOutput(chunk);
    limits.addOutput(chunk.length);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    options.onErrorOutput?.(chunk);
    limits.addOutput(chunk.length);
  });
  // A command need not read its input.
  child.stdin?.on("error", () => {}).end(options.input);
  // The leash carries no data. It closes when the last process that holds it is gone.
  const leash = (child.stdio as readonly unknown[])[LEASH] as Socket;
  leash.resume();
  const exit = await Promise.race([waitForExit(child, limits), limits.patience]);
  limits.release();
  const { reason } = limits;
  const { reached, refused } = await look(tree, leash);
  const isQuiet = reached.length + refused.length === 0;
  const isLost = isQuiet && !leash.closed;
  if (reason === undefined) {
    if (isQuiet && !isLost) command.release();
    else command.end(BACKGROUND_GRACE_MS);
  }
  child.stdout.destroy();
  child.stderr?.destroy();
  child.stdin?.destroy();
  leash.destroy();
  child.unref();
  const { exitCode, signal } = exit ?? { exitCode: null, signal: null };
  const ended = reason === undefined ? reached : [];
  // After an early stop, found processes still have time to end; after that time, they did not end.
  const left = exit === undefined ? [...reached, ...refused] : refused;
  return { reason: reason ?? "exited", exitCode, signal, ended, left, isLost };
}

/** Resolves when the command has exited and its output has ended, or after the grace period. */
async function waitForExit(
  child: Started,
  limits: CommandLimits,
): Promise<Pick<CommandEnd, "exitCode" | "signal">> {
  const streams = child.stderr === null ? [child.stdout] : [child.stdout, child.stderr];
  const closed = Promise.all(
    streams.map((stream) => new Promise((resolve) => void stream.once("close", resolve))),
  );
  const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  limits.releaseTime();
  await Promise.race([closed, sleep(OUTPUT_GRACE_MS, undefined, { ref: false })]);
  // Node runs timers before input: wait one turn for data written while this process was busy.
  await turn();
  return { exitCode, signal };
}

/** Finds remaining processes, after a short wait for those that are about to end. */
async function look(tree: CommandTree, leash: Socket): Promise<Signalled> {
  let found = signalTree(tree, 0);
  const isQuiet = (): boolean => found.reached.length + found.refused.length === 0;
  for (let looks = 0; looks < LOOKS && !(isQuiet() && leash.closed); looks++) {
    await sleep(LOOK_AGAIN_MS);
    found = signalTree(tree, 0);
    if (!isQuiet()) break;
  }
  return found;
}

type Started = ChildProcessByStdio<Writable | null, Readable, Readable | null>;

function start(options: CommandOptions, mark: string): Started {
  const { shell, wrapper = [], command, cwd, env, input, onErrorOutput } = options;
  // If the command runs Bowline itself, its processes carry both marks.
  const marks = `${env[MARK_VARIABLE] ?? ""} ${mark}`.trim();
  // A small shell joins standard error to the standard output pipe, then replaces itself with the
  // real shell.
  const line = [...wrapper, shell, "-c", "--", command];
  const isJoined = onErrorOutput === undefined;
  const child = spawn("/bin/sh", ["-c", `exec "$@"${isJoined ? " 2>&1" : ""}`, "sh", ...line], {
    cwd,
    env: { ...env, [MARK_VARIABLE]: marks },
    detached: true,
    stdio: [
      input === undefined ? "ignore" : "pipe",
      "pipe",
      isJoined ? "ignore" : "pipe",
      ...Array<"ignore">(LEASH - 3).fill("ignore"),
      "pipe",
    ],
  });
  return child as Started;
}
