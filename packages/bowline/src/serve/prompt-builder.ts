/** Builds the system prompt of a workspace. */
import { readWorkspaceText } from "./workspace-text.ts";

/** Longest file, in characters. A longer one is cut, with a note. */
const MAX_LENGTH = 20_000;

/** Joins AGENTS.md, SOUL.md and TOOLS.md, in this order, as far as they exist. */
export async function buildSystemPrompt(workspacePath: string): Promise<string> {
  const texts = await Promise.all(
    ["AGENTS.md", "SOUL.md", "TOOLS.md"].map((name) => read(workspacePath, name)),
  );
  return texts.filter((text) => text !== undefined).join("\n\n---\n\n");
}

async function read(workspacePath: string, name: string): Promise<string | undefined> {
  const text = await readWorkspaceText(workspacePath, name);
  if (text === undefined || text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH)}\n[cut after ${MAX_LENGTH} characters]`;
}
