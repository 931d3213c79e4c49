/** The tool `skill`, with which the model loads a skill and reads the files beside it. */
import { opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { BowlineError, defineTool, type AgentTool } from "@bowline/core";
import { didYouMean } from "../settings/nearest-name.ts";
import { readBounded } from "../settings/bounded-file.ts";
import { escapeLineBreaks, showPath } from "../escape.ts";
import { shownFrom } from "./place.ts";
import { isPrivateFile } from "./private-files.ts";
import type { Skill } from "./skills.ts";

const MAX_BODY = 64 * 1024;
const MAX_LISTED = 50;

export function createSkillTool(skills: readonly Skill[]): AgentTool {
  return defineTool({
    name: "skill",
    description:
      "Loads the instructions of a skill by its name, or reads a file of the skill by a path relative to it.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "The skill's name." },
        file: { type: "string", description: "A file of the skill. Default: its instructions." },
      },
      required: ["name"],
    } as const,
    replay: "safe",
    async execute({ name, file }) {
      const skill = skills.find((one) => one.name === name);
      if (skill === undefined) {
        const names = skills.map((one) => one.name);
        throw new BowlineError(
          "invalid_argument",
          `There is no skill ${JSON.stringify(name)}.${didYouMean(name, names)} Known ones: ${names.join(", ")}.`,
        );
      }
      return file === undefined || file === "" ? bodyOf(skill) : fileOf(skill, file);
    },
  });
}

async function bodyOf({ name, folder, body }: Skill): Promise<string> {
  const files = await filesIn(folder);
  const others = files.length === 0 ? "" : `\n\nFiles of the skill: ${files.join(", ")}`;
  return `Skill ${name}, in ${showPath(folder)}:\n\n${cut(body)}${others}`;
}

async function fileOf({ folder }: Skill, file: string): Promise<string> {
  const real = await realpath(folder);
  const read = await readBounded(join(folder, file), real);
  // The folder of a skill may be a link to any folder of the project.
  const isPrivate = read.kind === "text" && isPrivateFile(shownFrom(real, read.realPath));
  if (read.kind === "text" && !isPrivate) return cut(read.text);
  const why =
    read.kind === "missing"
      ? "does not exist in the skill"
      : read.kind === "text"
        ? "may hold secrets and was not read"
        : read.why;
  throw new BowlineError("invalid_argument", `${showPath(file)} ${why}.`);
}

async function filesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (names.length >= MAX_LISTED) break;
      if (entry.name === "SKILL.md" || entry.name.startsWith(".")) continue;
      names.push(`${escapeLineBreaks(entry.name)}${entry.isDirectory() ? "/" : ""}`);
    }
  } catch {
    return []; // the list is only a help
  }
  return names.toSorted();
}

function cut(text: string): string {
  if (text.length <= MAX_BODY) return text;
  return `${text.slice(0, MAX_BODY)}\n[cut here: the text has ${text.length} characters]`;
}
