/** A line of the shell that the person ran, as the model reads it and as the transcript shows it. */
import type { ShellBlock } from "./block.ts";

const LEAD_IN = "I ran this command myself:";

export function shellText({ command, output, end }: Omit<ShellBlock, "type" | "isHidden">): string {
  const shown = output === "" ? "" : `${output.replace(/\n$/, "")}\n`;
  return `${LEAD_IN}\n$ ${command.replaceAll("\n", "\n> ")}\n${shown}[${end}]`;
}

/** Returns undefined for a text that {@link shellText} did not make. */
export function shellBlock(text: string): ShellBlock | undefined {
  const lines = text.split("\n");
  const [lead, first = "", ...rest] = lines;
  const last = rest.at(-1) ?? "";
  if (lead !== LEAD_IN || !first.startsWith("$ ") || !/^\[.*\]$/.test(last)) return undefined;
  const more = rest.findIndex((line) => !line.startsWith("> "));
  const command = [first.slice(2), ...rest.slice(0, more).map((line) => line.slice(2))].join("\n");
  const output = rest.slice(more, -1).join("\n");
  return { type: "shell", command, output, end: last.slice(1, -1), isHidden: false };
}
