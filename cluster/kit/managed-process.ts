/**
 * A process of the tests, in a process group of its own. The group ends with SIGKILL when it is
 * stopped, and also when the tests' process dies in any way.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loopback, type Place } from "./place.ts";

export interface ProcessOptions {
  /** For messages, and the name of the log file. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of its log and its working directory. Created if it is missing. */
  readonly folder: string;
  /** Default: loopback. */
  readonly place?: Place;
}

/**
 * The watcher kills the group when descriptor 3, a pipe from the tests' process, is closed: at the
 * latest when that process ends.
 */
const SCRIPT = '(read -r _ <&3; kill -KILL 0) & exec "$0" "$@" 3<&-';

export class ManagedProcess implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  constructor({ name, command, args = [], env = {}, folder, place = loopback }: ProcessOptions) {
    mkdirSync(folder, { recursive: true });
    this.name = name;
    this.#logFile = join(folder, `${name}.log`);
    const log = openSync(this.#logFile, "a");
    this.#child = spawn("/bin/sh", ["-c", SCRIPT, ...place.prefix, command, ...args], {
      cwd: folder,
      detached: true,
      env: { PATH: process.env.PATH, HOME: folder, DO_NOT_TRACK: "1", ...env },
      stdio: ["ignore", log, log, "pipe"],
    });
    closeSync(log);
    this.#child.unref();
    (this.#child.stdio[3] as unknown as { unref(): void }).unref();
  }

  /** The process id, which is also the id of its group. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.name} did not start.`);
    return pid;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The last part of its output. */
  get log(): string {
    return readFileSync(this.#logFile, "utf8").slice(-4000);
  }

  /** Sends a signal to the process alone, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  /** Waits for the end of the process. Returns false after `limitMs`. */
  async whenEnded(limitMs: number): Promise<boolean> {
    if (this.hasEnded) return true;
    const signal = AbortSignal.timeout(limitMs);
    try {
      await once(this.#child, "exit", { signal });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  /** Kills the group with SIGKILL and waits for the end of the process. */
  async kill(): Promise<void> {
    const isOver = this.hasEnded;
    this.#kill();
    if (isOver) return;
    this.#child.ref();
    await once(this.#child, "exit");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  /** Waits until `isReady` returns true. Rejects with the log after `limitMs`, or if it has ended. */
  async whenReady(isReady: () => Promise<boolean>, limitMs = 30_000): Promise<void> {
    const end = performance.now() + limitMs;
    for (;;) {
      if (this.hasEnded) throw new Error(`${this.name} ended at its start:\n${this.log}`);
      if (await isReady()) return;
      if (performance.now() > end)
        throw new Error(`${this.name} was not ready after ${limitMs} ms:\n${this.log}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  #kill(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // the group has ended
    }
    this.#child.stdio[3]?.destroy();
  }
}
