/** The process that holds a lock, as a column of its session. */
import { hostname } from "node:os";
import type { SessionHolder } from "@bowline/core/session";

interface ProcessHolder {
  readonly pid: number;
  readonly host: string;
  /** When the process began, since process ids are used again. Milliseconds since the epoch. */
  readonly began: number;
}

export function thisProcess(): ProcessHolder {
  return { pid: process.pid, host: hostname(), began: Math.round(performance.timeOrigin) };
}

/** Returns the column of a writer of this process. `since` is in milliseconds since the epoch. */
export function holderColumn(since: number): string {
  return JSON.stringify({ ...thisProcess(), since });
}

export function toHolder(column: unknown): SessionHolder {
  const { pid, host, began, since } = JSON.parse(String(column)) as ProcessHolder & {
    readonly since: number;
  };
  const own = thisProcess();
  const isThisProcess = pid === own.pid && host === own.host && began === own.began;
  return { isThisProcess, pid, host, since };
}

/** Names the holder in an error. */
export function describeHolder(column: unknown, own: ProcessHolder): string {
  // It took the lock a moment ago.
  if (column === null || column === undefined) return "another process";
  const { isThisProcess, pid, host } = toHolder(column);
  if (isThisProcess) return "this process";
  return host === own.host ? `process ${pid}` : `process ${pid} on ${host}`;
}
