/**
 * One child process with all it starts, to a settled end. Nothing it does can keep the promise from
 * settling.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
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
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Standard output and standard error, in the order in which they were written. */
  readonly onOutput: (chunk: Buffer) => void;
  /** Default this one. Only Linux shows whose a process is. */
  readonly platform?: NodeJS.Platform;
}

export interface CommandEnd {
  readonly reason: "exited" | "timeout" | "aborted" | "flood";
  /** Null when a signal ended it, or when it would not end. Node says 0 of a real-time signal. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /**
   * What the command left in the background when it exited: it was asked to end, and is killed if
   * it does not.
   */
  readonly ended: readonly FoundProcess[];
  /** What runs on: it may not be signalled, or even SIGKILL did not end it. */
  readonly left: readonly FoundProcess[];
  /** Something runs on that could not be found. */
  readonly isLost: boolean;
}

/**
 * How long the output is waited for once the command itself has ended: something in the background
 * may hold it open.
 */
const OUTPUT_GRACE_MS = 200;
const LOOK_AGAIN_MS = 30;
/** What forks and ends all the time can be missed in one look. */
const LOOKS = 3;
/** From SIGTERM to SIGKILL, for what a command leaves in the background. */
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
  // Nobody has anything to say there; it closes when the last process that holds it is gone.
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
  leash.destroy();
  child.unref();
  const { exitCode, signal } = exit ?? { exitCode: null, signal: null };
  const ended = reason === undefined ? reached : [];
  // After an early stop, what is found is within its time to end; after its time it is what would
  // not.
  const left = exit === undefined ? [...reached, ...refused] : refused;
  return { reason: reason ?? "exited", exitCode, signal, ended, left, isLost };
}

/** Until the command itself has ended and its output is over, or was waited for long enough. */
async function waitForExit(
  child: Started,
  limits: CommandLimits,
): Promise<Pick<CommandEnd, "exitCode" | "signal">> {
  const closed = new Promise((resolve) => void child.stdout.once("close", resolve));
  const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  limits.releaseTime();
  await Promise.race([closed, sleep(OUTPUT_GRACE_MS, undefined, { ref: false })]);
  // Timers come before input: one more turn for what was written while this process was busy.
  await turn();
  return { exitCode, signal };
}

/** What runs on, once what was just about to end has had a moment to. */
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

type Started = ChildProcessByStdio<null, Readable, null>;

function start({ shell, command, cwd, env }: CommandOptions, mark: string): Started {
  // A command may run Bowline itself; what that starts is of both.
  const marks = `${env[MARK_VARIABLE] ?? ""} ${mark}`.trim();
  // A small shell makes standard error the same pipe as standard output, then becomes the one that
  // runs the command.
  const child = spawn("/bin/sh", ["-c", 'exec "$0" -c -- "$1" 2>&1', shell, command], {
    cwd,
    env: { ...env, [MARK_VARIABLE]: marks },
    detached: true,
    stdio: ["ignore", "pipe", "ignore", ...Array<"ignore">(LEASH - 3).fill("ignore"), "pipe"],
  });
  return child as Started;
}
