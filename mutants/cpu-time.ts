/** Measures how a process group uses the CPU. */
import { spawnSync } from "node:child_process";

/** Returns milliseconds, rounded down to whole seconds for each process. Returns 0 without `ps`. */
export function cpuTimeOf(group: number | undefined): number {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pgid=,time="], { encoding: "utf8" });
  return (stdout ?? "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid]) => Number(pgid) === group)
    .reduce((sum, [, time = ""]) => sum + 1000 * secondsOf(time), 0);
}

/**
 * Returns true if a process of the group runs or waits for a CPU, each of three times. Returns false
 * without `ps`.
 */
export function isComputing(group: number | undefined): boolean {
  const isRunning = (): boolean => {
    const { stdout } = spawnSync("ps", ["-A", "-o", "pgid=,stat="], { encoding: "utf8" });
    return (stdout ?? "").split("\n").some((line) => {
      const [pgid, state = ""] = line.trim().split(/\s+/);
      return Number(pgid) === group && state.startsWith("R");
    });
  };
  return isRunning() && isRunning() && isRunning();
}

/** Parses `[days-]hours:minutes:seconds`, or `minutes:seconds.hundredths` on macOS. */
function secondsOf(time: string): number {
  const [clock = "", days = "0"] = time.split("-").toReversed();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number(days) * 86_400 + seconds;
}
