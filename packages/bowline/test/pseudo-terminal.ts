/** A shell with job control on a pseudo-terminal, as a person uses it. */
import { spawn, spawnSync } from "node:child_process";
import { commandLine } from "./command-line.ts";
import { bare } from "./command.ts";

/** Why no pseudo-terminal is available, or undefined. */
export const missingTerminal: string | undefined =
  process.platform === "linux" && spawnSync("script", ["--version"]).status === 0
    ? undefined
    : "needs `script` of util-linux";

export interface Shell extends AsyncDisposable {
  /** The shell command that runs bowline. */
  readonly bowline: string;
  type(text: string): void;
  /** Resolves with the output since the last call when it matches. */
  until(pattern: RegExp): Promise<string>;
}

const LIMIT_MS = 60_000;

export function openShell(cwd: string, env: Record<string, string> = {}): Shell {
  const child = spawn("script", ["-qec", "bash --norc --noprofile -i", "/dev/null"], {
    cwd,
    env: { ...bare, TERM: "xterm", NO_COLOR: "1", PS1: "$ ", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let shown = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    for (const look of waiting) look();
  });
  return {
    bowline: commandLine.join(" "),
    type: (text) => void child.stdin.write(text),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(
          () => reject(new Error(`No ${pattern} in ${JSON.stringify(shown)}`)),
          LIMIT_MS,
        );
        const look = (): void => {
          const found = pattern.exec(shown);
          if (found === null) return;
          clearTimeout(limit);
          waiting.delete(look);
          const end = found.index + found[0].length;
          resolve(shown.slice(0, end));
          shown = shown.slice(end);
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const gone = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}
