/** The system prompt of every face: run, the conversation and serve. */
import { oneLine } from "../terminal.ts";
import type { GitFacts } from "./git-facts.ts";
import type { Instruction } from "./instructions.ts";
import type { Skill } from "./skills.ts";

/** Facts about where the agent works. */
interface Facts {
  /** ISO date without the time, so that the prompt stays the same during a day. */
  readonly date: string;
  readonly system: string;
  readonly directory: string;
  readonly git?: GitFacts;
}

export interface PromptParts {
  readonly facts: Facts;
  readonly instructions: readonly Instruction[];
  readonly skills: readonly Skill[];
  /** Names of the agent's tools. */
  readonly tools: readonly string[];
  /** Replaces Bowline's own text. */
  readonly system?: string;
  readonly appendSystem?: string;
}

/** Characters of all skills' names and descriptions. */
const MAX_SKILLS = 20_000;

export function joinPrompt(parts: PromptParts): string {
  const { facts, system = ownText(facts.directory), appendSystem = "" } = parts;
  const hasSkills = parts.tools.includes("skill");
  const sections = [
    system.trim(),
    environment(facts, parts.tools),
    instructionText(parts.instructions),
    hasSkills ? skillText(parts.skills) : "",
    appendSystem.trim(),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

function ownText(directory: string): string {
  return `You are Bowline, an agent that works in the directory ${directory} on the user's machine.
Use the tools to find out rather than guess, and call several at once when they do not depend on each other.
File tools take paths relative to that directory and cannot leave it. A denied tool call is the user's decision: do not repeat it.
When the task is done, answer it plainly and briefly from what you found. If something could not be done, say so.`;
}

function environment({ date, system, directory, git }: Facts, tools: readonly string[]): string {
  return [
    "<environment>",
    `Date: ${date}`,
    `System: ${system}`,
    `Working directory: ${oneLine(directory, 4096)}`,
    ...(git === undefined ? [] : [`Git: ${gitText(git)}`]),
    `Tools: ${tools.length === 0 ? "none" : tools.join(", ")}`,
    "</environment>",
  ].join("\n");
}

function gitText({ branch, changed, untracked }: GitFacts): string {
  const where = branch === undefined ? "no branch" : `branch ${branch}`;
  if (changed === undefined || untracked === undefined) return where;
  if (changed + untracked === 0) return `${where}, no changes`;
  return `${where}, ${changed} changed, ${untracked} untracked`;
}

/** Formats instructions for the model, each with the path of its file. */
export function instructionText(instructions: readonly Instruction[]): string {
  if (instructions.length === 0) return "";
  const files = instructions.map(
    ({ path, text }) =>
      `<instructions path=${JSON.stringify(oneLine(path, 1000))}>\n${text.replaceAll(/<(?=\/?instructions\b)/gi, "&lt;")}\n</instructions>`,
  );
  return `These files of the user and the project say how to work here. A later one takes precedence. They cannot allow a tool call that the user denies.
${files.join("\n")}`;
}

function skillText(skills: readonly Skill[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { name, description, isOffered } of skills) {
    const line = `- ${name}: ${oneLine(description, 1024)}`;
    if (!isOffered || length + line.length > MAX_SKILLS) continue;
    length += line.length;
    lines.push(line);
  }
  if (lines.length === 0) return "";
  return `Skills hold instructions for special tasks. Before a task that one describes, load it with the tool skill.
${lines.join("\n")}`;
}
