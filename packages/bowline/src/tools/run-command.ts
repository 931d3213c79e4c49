/** One child process with its group, from start to a settled end. Nothing it does can keep the promise from settling. */
import { spawn } from "node:child_process";
import { addGroup, endGroup } from "./process-groups.ts";

export interface CommandOptions {
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Standard output and standard error, in the order in which they were written. */
  readonly onOutput: (chunk: Buffer) => void;
}

export interface CommandEnd {
  readonly reason: "exited" | "timeout" | "aborted";
  /** Null when a signal ended it, or when it would not end. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long the output is waited for once the command itself has ended: something in the background may hold it open. */
const OUTPUT_GRACE_MS = 200;
/** From SIGTERM to SIGKILL. An abort has to be over within a second. */
const GRACE_MS = { timeout: 2_000, aborted: 300, exited: 2_000 } as const;
/** From SIGKILL to giving up on a process that even that does not end. */
const GIVE_UP_MS = 400;

/** Rejects only if the command cannot be started. */
export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { shell, command, cwd, env, timeoutMs, signal, onOutput } = options;
  return new Promise((resolve, reject) => {
    // A small shell makes standard error the same pipe as standard output, then becomes the one that runs the command.
    const child = spawn("/bin/sh", ["-c", 'exec "$0" -c -- "$1" 2>&1', shell, command], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const timers: NodeJS.Timeout[] = [];
    let reason: CommandEnd["reason"] = "exited";
    let end: Pick<CommandEnd, "exitCode" | "signal"> = { exitCode: null, signal: null };

    const settle = (): void => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.unref();
      if (child.pid !== undefined && reason === "exited") endGroup(child.pid, GRACE_MS.exited);
      resolve({ reason, ...end });
    };
    const stop = (why: "timeout" | "aborted"): void => {
      if (reason !== "exited" || child.pid === undefined) return;
      reason = why;
      endGroup(child.pid, GRACE_MS[why]);
      timers.push(setTimeout(settle, GRACE_MS[why] + GIVE_UP_MS));
    };
    const onAbort = (): void => stop("aborted");

    child.once("spawn", () => {
      addGroup(child.pid as number);
      timers.push(setTimeout(stop, timeoutMs, "timeout"));
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
    child.once("error", (error) => {
      for (const timer of timers) clearTimeout(timer);
      reject(error);
    });
    child.once("exit", (exitCode, killedBy) => {
      end = { exitCode, signal: killedBy };
      // Timers come before input: one more turn for what was written while this process was busy.
      timers.push(setTimeout(() => setImmediate(settle), OUTPUT_GRACE_MS));
    });
    child.once("close", settle);
    child.stdout.on("data", onOutput);
  });
}
