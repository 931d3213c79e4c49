/** Starts `writer.ts` as a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("writer.ts", import.meta.url));

export interface Writer {
  /** Resolves to the number of stored things, when the process has ended. */
  readonly stored: Promise<number>;
}

/** With `killAt`, the process is killed when it has stored so many. */
export function startWriter(args: readonly string[], killAt = Number.POSITIVE_INFINITY): Writer {
  const child = spawn(process.execPath, ["--conditions=@bowline/source", path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stored = 0;
  createInterface({ input: child.stdout }).on("line", () => {
    if (++stored === killAt) child.kill("SIGKILL");
  });
  return { stored: once(child, "close").then(() => stored) };
}
