/**
 * The files of a workspace. They are created at the first start and belong to the user from then
 * on.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@bowline/core/session/node";
import { readWorkspaceText } from "./workspace-text.ts";

/** The agent's model in the created AGENTS.md. The user did not choose it. */
export const PRESET_MODEL = "anthropic/claude-opus-4-6";

const files = {
  "AGENTS.md": `# Agents

## assistant

Model: ${PRESET_MODEL}
Description: A helpful, accurate, and concise general-purpose assistant.
`,
  "SOUL.md": `# Core Directives

You are a local virtual assistant. You run on the user's own machine.

- Be helpful, honest and concise.
- Say so when you are not sure.
- Do not make up information.
- Respect the user's privacy. Sessions and files stay on this machine, but what you read and say
  goes to the model that answers, which may be a service in the cloud. Read only what the task needs.
- Before you run a command, explain what it does and why.
`,
  "TOOLS.md": `# Available Tools

## bash

Runs a shell command on the user's machine.
The user approves every command before it runs.
Use it to look at files, to run scripts and to find out about the system.
Always use the least permissions that will do.

## read

Shows a text file, a page of lines at a time, or an image.

## write

Makes a file, or replaces all of one. The user approves it first.

## edit

Replaces a piece of a file, which has to be quoted exactly. The user approves it first.

## grep

Finds lines that match a regular expression.

## glob

Finds files by their path.
`,
};

/** Returns true if the model is the preset one, in an AGENTS.md that is still as created. */
export async function isPresetModel(folder: string, model: string): Promise<boolean> {
  if (model !== PRESET_MODEL) return false;
  return (await readWorkspaceText(folder, "AGENTS.md")) === files["AGENTS.md"];
}

/** Creates missing files and returns their names. Existing files are not changed. */
export async function createWorkspaceFiles(folder: string): Promise<string[]> {
  await makeFolder(folder);
  const made: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    try {
      await writeFile(join(folder, name), text, { flag: "wx" });
      made.push(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return made;
}
