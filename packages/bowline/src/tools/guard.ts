/**
 * A small shell beside a command that does one thing: when this process ends, however it ends, it
 * kills the command. It sees that by the end of its standard input, which only this process holds
 * open; so it works after SIGKILL too.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { assertMark, LEASH, seesProcesses, type CommandTree } from "./command-tree.ts";

export interface Guard {
  /** The command has started. */
  watch(tree: CommandTree): void;
  /** The command is over. */
  dismiss(): void;
}

/**
 * `$1` is the mark, `$2` says whether processes are shown. Kills the group, then what carries mark
 * or leash, again while there is more. Each of the three is looked at before it is used: one that
 * is too general would find the processes of others.
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
 * To be started before the command, so that there is no moment without. If there is no shell, there
 * is no guard. Throws for a mark that others could carry.
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
  // It must not keep this process from ending.
  shell.unref();
  (shell.stdin as Socket).unref();
  return {
    watch: ({ leader, leash = "" }) => void shell.stdin.write(`${leader} ${leash}\n`),
    dismiss: () => void shell.stdin.end("over\n"),
  };
}
