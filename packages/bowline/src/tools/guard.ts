/**
 * A small shell that kills the command when this process ends, even by SIGKILL. It detects that by
 * the end of its standard input, which only this process holds open.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { assertMark, LEASH, seesProcesses, type CommandTree } from "./command-tree.ts";

export interface Guard {
  /** Reports that the command has started. */
  watch(tree: CommandTree): void;
  /** Reports that the command is over. */
  dismiss(): void;
}

/**
 * `$1` is the mark, `$2` says whether processes are visible. Kills the group, then processes with
 * the mark or the leash until none is left. Checks all three ids before use: one that is too
 * general would match other processes.
 */
const SCRIPT = `
case $1 in ????????-????-????-????-????????????) ;; *) exit ;; esac
read -r leader leash || leader= leash=
[ "$leader" = over ] && exit
read -r word && exit
case $leader in '' | 0 | 1 | *[!0-9]*) ;; *) kill -KILL "-$leader" ;; esac
case $leash in socket:\\[[0-9]*\\] | pipe:\\[[0-9]*\\]) ;; *) leash= ;; esac
[ "$2" = sees ] || exit
for round in 1 2 3 4 5 6 7 8 9 10; do
  pids=$(
    grep -Fls -e "$1" /proc/[0-9]*/environ | cut -d / -f 3
    [ -n "$leash" ] && ls -l /proc/[0-9]*/fd/${LEASH} 2> /dev/null | grep -F -e "-> $leash" | cut -d / -f 3
  )
  [ -n "$pids" ] || exit
  kill -KILL $pids
done`;

/**
 * Start it before the command, so that the command is never without a guard. Without /bin/sh there
 * is no guard. Throws for a mark that other processes could have.
 */
export function startGuard(mark: string, platform: NodeJS.Platform): Guard {
  assertMark(mark);
  const shell = spawn(
    "/bin/sh",
    ["-c", SCRIPT, "sh", mark, seesProcesses(platform) ? "sees" : ""],
    {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  const ignore = (): void => {};
  shell.on("error", ignore);
  shell.stdin.on("error", ignore);
  // Let this process exit while the guard runs.
  shell.unref();
  (shell.stdin as Socket).unref();
  return {
    watch: ({ leader, leash = "" }) => void shell.stdin.write(`${leader} ${leash}\n`),
    dismiss: () => void shell.stdin.end("over\n"),
  };
}
