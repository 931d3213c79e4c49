/** The system prompt of a workspace. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A longer file is cut there, and says so. */
const MAX_LENGTH = 20_000;

/** AGENTS.md, SOUL.md and TOOLS.md, in this order, those that are there. */
export async function buildSystemPrompt(workspacePath: string): Promise<string> {
  const texts = await Promise.all(["AGENTS.md", "SOUL.md", "TOOLS.md"].map((name) => read(join(workspacePath, name))));
  return texts.filter((text) => text !== undefined).join("\n\n---\n\n");
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, "utf8");
    return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}\n[cut after ${MAX_LENGTH} characters]`;
  } catch {
    return undefined;
  }
}
