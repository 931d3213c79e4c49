/**
 * Identifies this process and checks whether another is still running, although systems reuse
 * process ids.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { toFileName } from "./file-name.ts";
import { systemCode } from "./storage-error.ts";

const LONGEST_HOST = 40;

export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the system's own unit. Empty if unknown. */
  readonly start: string;
  /** Id of the system's boot. Empty if unknown. */
  readonly boot: string;
  readonly host: string;
}

export async function identifySelf(
  platform: NodeJS.Platform = process.platform,
): Promise<ProcessIdentity> {
  const { pid } = process;
  const start = (await startOf(pid, platform)) ?? "";
  const boot = readSystem("/proc/sys/kernel/random/boot_id") ?? "";
  return { pid, start, boot: boot.slice(0, 8), host: toFileName(hostname(), LONGEST_HOST) };
}

/**
 * Returns whether a process is running. A process on another host counts as alive, because this
 * host cannot check it. Where start times are unknown (Windows), a process with a reused id counts
 * as alive too.
 */
export async function isAlive(
  other: ProcessIdentity,
  self: ProcessIdentity,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  if (other.host !== self.host) return true;
  // Compare only if both know the boot id. Deno can read /proc only with `--allow-all`.
  if (other.boot && self.boot && other.boot !== self.boot) return false;
  const start = await startOf(other.pid, platform);
  return start !== undefined && (start === other.start || start === "" || other.start === "");
}

/**
 * Returns a process's start time. Undefined if there is no such process; empty if its start time is
 * unknown.
 */
async function startOf(pid: number, platform: NodeJS.Platform): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return undefined;
  }
  if (platform === "linux") return startInProc(pid);
  return platform === "win32" ? "" : startInPs(pid);
}

/** Reads field 22 of `/proc/<pid>/stat`: ticks since boot, unaffected by changes to the clock. */
function startInProc(pid: number): string | undefined {
  const stat = readSystem(`/proc/${pid}/stat`);
  if (stat === undefined) return "";
  // The name, in parentheses, may contain any characters.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", start = ""] = [fields[0], fields[19]];
  return /^[ZXx]/.test(state) ? undefined : start; // a zombie or dead process
}

async function startInPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], {
      env: { LC_ALL: "C" },
    });
    return stdout.replaceAll(/[^A-Za-z0-9]/g, "");
  } catch (error) {
    // An exit code of ps means no such process. A system error means that ps is missing.
    return systemCode(error) === undefined ? undefined : "";
  }
}

/** Reads a file of /proc synchronously, which is fast because it is not on a disk. */
function readSystem(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
