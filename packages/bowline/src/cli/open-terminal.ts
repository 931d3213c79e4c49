/** Finds the terminal on which a person can be asked. */
import { openSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { Terminal } from "./ask.ts";

export interface OpenTerminal {
  /** Absent if there is no terminal to ask on. */
  readonly terminal?: Terminal;
  readonly close: () => void;
}

/**
 * Reads from standard input if it is a terminal, else from the controlling terminal, since a pipe
 * may hold the task. Questions go to standard error; without a terminal there, no one would see
 * them.
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
    return undefined; // no controlling terminal, or no /dev/tty on this system
  }
  return new ReadStream(file);
}
