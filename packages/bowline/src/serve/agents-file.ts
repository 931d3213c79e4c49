/**
 * Parses the agents of a workspace from AGENTS.md: a level-two heading each, with a model and a
 * description.
 */
import type { AgentEntry } from "../gateway/agents/agent-entry.ts";
import { readWorkspaceText } from "./workspace-text.ts";

/** Ignores sections without a `Model:` line. If an id repeats, the first section counts. */
export function parseAgents(markdown: string): AgentEntry[] {
  const agents = new Map<string, AgentEntry>();
  for (const section of markdown.split(/^(?=#{1,6}\s)/m)) {
    const lines = section.split("\n");
    const id = headingIn(lines[0]);
    const model = withoutMarks(field(lines, "Model"));
    if (id === undefined || model === undefined || agents.has(id)) continue;
    agents.set(id, { id, model, description: field(lines, "Description") ?? "" });
  }
  return [...agents.values()];
}

export async function readAgents(workspacePath: string): Promise<AgentEntry[]> {
  return parseAgents((await readWorkspaceText(workspacePath, "AGENTS.md")) ?? "");
}

/** Returns the text of a level-two heading, without closing marks. */
function headingIn(line = ""): string | undefined {
  if (!/^##\s/.test(line)) return undefined;
  const text = line.slice(2).trim();
  let end = text.length;
  while (end > 1 && text[end - 1] === "#") end--;
  return text === "" ? undefined : text.slice(0, end).trim();
}

/** Finds a labelled line. The label may be bold, with or without its colon. */
function field(lines: readonly string[], name: "Model" | "Description"): string | undefined {
  const start = new RegExp(`^(?:[-*+]\\s+)?[*_]{0,3}${name}[*_]{0,3}:[*_]{0,3}`, "i");
  const found = lines.map((line) => line.trim()).filter((line) => start.test(line));
  return found.map((line) => line.replace(start, "").trim()).find((value) => value !== "");
}

/** Removes code or bold marks around a name. */
function withoutMarks(value = ""): string | undefined {
  const isMark = (at: number): boolean => "*_`".includes(value.charAt(at));
  let [start, end] = [0, value.length];
  while (start < end && isMark(start)) start++;
  while (end > start && isMark(end - 1)) end--;
  return value.slice(start, end).trim() || undefined;
}
