/** Where a person can be asked. */
import { openSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { Terminal } from "./ask.ts";

export interface OpenTerminal {
  /** Absent where nobody can be asked. */
  readonly terminal?: Terminal;
  readonly close: () => void;
}

/**
 * Standard input where it is a terminal, else the one that the process belongs to, since a pipe may
 * hold the task. Questions go to standard error: where that is no terminal, nobody would see them.
 */
export function openTerminal({
  stdin,
  stderr: output,
}: Pick<NodeJS.Process, "stdin" | "stderr">): OpenTerminal {
  const close = (): void => {};
  if (!output.isTTY) return { close };
  if (stdin.isTTY) return { terminal: { input: stdin, output }, close };
  const input = controllingTerminal();
  if (input === undefined) return { close };
  return { terminal: { input, output }, close: () => void input.destroy() };
}

function controllingTerminal(): ReadStream | undefined {
  let file: number;
  try {
    file = openSync("/dev/tty", "r");
  } catch {
    return undefined; // a process that belongs to none, or a system without that file
  }
  return new ReadStream(file);
}
