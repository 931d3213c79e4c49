/** Formats the state of servers for a person. */
import { showPath } from "../escape.ts";
import { oneLine } from "../terminal.ts";
import type { ListedServer } from "./servers.ts";

const MAX_TOOLS = 100;

/** Returns lines for each server: its state, its file, its tools, and what is wrong. */
export function serverLines(servers: readonly ListedServer[]): string[] {
  return servers.flatMap(({ name, path, status, tools, problems, message, stderr }) => {
    const lines = [`${oneLine(name, 80)}  ${status}  ${showPath(path)}`];
    if (message !== undefined) lines.push(`  ${oneLine(message, 1000)}`);
    const shown = tools.slice(0, MAX_TOOLS).map((tool) => `  ${oneLine(tool, 80)}`);
    lines.push(...shown);
    if (tools.length > shown.length) lines.push(`  and ${tools.length - shown.length} more tools`);
    for (const { tool, reason } of problems)
      lines.push(`  not offered: ${oneLine(tool, 80)}: ${oneLine(reason, 300)}`);
    const last = stderr?.trim().split("\n").at(-1);
    if (last !== undefined && status !== "ready")
      lines.push(`  its last words: ${oneLine(last, 300)}`);
    return lines;
  });
}
