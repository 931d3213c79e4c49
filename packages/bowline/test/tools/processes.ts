/** Helpers to inspect processes that commands have started. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const isLinux: boolean = process.platform === "linux";

/** Whether a process runs. False for a zombie. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || !/\) [ZX] /.test(readText(status));
}

export async function endsWithin(pid: number, ms: number): Promise<boolean> {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(20))
    if (!isRunning(pid)) return true;
  return !isRunning(pid);
}

/** Returns the first number in a text. */
export const pidIn = (text: string): number => Number(/\d+/.exec(text)?.[0]);

/** Linux only. Describes the processes that work in a folder or below it. */
export function processesIn(folder: string): string[] {
  return toLines(running().filter((pid) => linkOf(`/proc/${pid}/cwd`).startsWith(folder)));
}

/** Linux only. Returns the guards that this process has started. */
export function guards(): string[] {
  return toLines(
    running().filter((pid) => readText(`/proc/${pid}/stat`).includes(`) S ${process.pid} `)),
  ).filter((line) => line.includes("read -r leader"));
}

function running(): string[] {
  if (!isLinux) return [];
  return readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && isRunning(Number(pid)),
  );
}

function toLines(pids: readonly string[]): string[] {
  return pids.map(
    (pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200)}`,
  );
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
