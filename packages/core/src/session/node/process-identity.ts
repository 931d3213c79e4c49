/**
 * Which process this is, and whether another still is there, although numbers of processes are used
 * again.
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
  /** When it started, as its system counts; empty where that is not known. */
  readonly start: string;
  /** Which start of the system; empty where that is not known. */
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
 * A process of another host counts as alive: nobody here can know. Where starts are not known
 * (Windows) a number that is used again counts as alive too.
 */
export async function isAlive(
  other: ProcessIdentity,
  self: ProcessIdentity,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  if (other.host !== self.host) return true;
  // What one of the two could not read tells nothing: Deno shows /proc with `--allow-all` only.
  if (other.boot && self.boot && other.boot !== self.boot) return false;
  const start = await startOf(other.pid, platform);
  return start !== undefined && (start === other.start || start === "" || other.start === "");
}

/**
 * Undefined when there is no such process; empty when there is one, and nothing says since when.
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

/**
 * Field 22 of `/proc/<pid>/stat`, in ticks since the system started: no clock that is set back
 * changes it.
 */
function startInProc(pid: number): string | undefined {
  const stat = readSystem(`/proc/${pid}/stat`);
  if (stat === undefined) return "";
  // The name, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", start = ""] = [fields[0], fields[19]];
  return /^[ZXx]/.test(state) ? undefined : start; // dead, and nobody has asked how it ended
}

async function startInPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], {
      env: { LC_ALL: "C" },
    });
    return stdout.replaceAll(/[^A-Za-z0-9]/g, "");
  } catch (error) {
    return systemCode(error) === undefined ? undefined : ""; // ps knows no such process, or there is no ps
  }
}

/** What the system says of itself is no file on a disk, for which one would have to wait. */
function readSystem(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
