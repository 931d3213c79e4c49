/** Ends a server's process together with the processes that it has started. */
import { spawn, type ChildProcess } from "node:child_process";

const hasGroups = process.platform !== "win32";

/** Signals the group that `child` leads. Does nothing if no process of the group is left. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  // For signals, 0 means this process's own group, and 1 is the system's first process.
  if (pid === undefined || pid <= 1) return;
  try {
    process.kill(hasGroups ? -pid : pid, signal);
  } catch {
    // The group is gone.
  }
}

/**
 * Ends the group of `child` if this process dies without closing the server, even by SIGKILL. A
 * small shell notices that by the end of its standard input. The returned function dismisses it.
 * Without /bin/sh there is no guard, and only the end of the server's own input tells it.
 */
export function guardGroup({ pid }: ChildProcess): () => void {
  if (!hasGroups || pid === undefined || pid <= 1) return () => {};
  const script = `read -r word && exit; kill -TERM "-$1"; sleep 1; kill -KILL "-$1"`;
  const shell = spawn("/bin/sh", ["-c", script, "sh", String(pid)], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ignore = (): void => {};
  shell.on("error", ignore);
  shell.stdin.on("error", ignore);
  // Let this process exit while the guard runs.
  shell.unref();
  (shell.stdin as unknown as { unref?(): void }).unref?.();
  return () => void shell.stdin.end("over\n");
}
