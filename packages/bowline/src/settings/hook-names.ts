/**
 * The names in matchers of hooks. People have matchers with the names of Claude Code's tools, so both
 * those and the names of this program's tools are understood.
 */
import { didYouMean } from "./nearest-name.ts";
import { show } from "./shapes.ts";
import type { HookEvent } from "./keys.ts";

/** The tools of this program, with their names in Claude Code. Hooks are told the first one. */
const tools: Readonly<Record<string, readonly string[]>> = {
  bash: ["Bash"],
  read: ["Read"],
  write: ["Write"],
  edit: ["Edit"],
  grep: ["Grep"],
  glob: ["Glob"],
  skill: ["Skill"],
  agent: ["Agent", "Task"],
};

/** Tools of Claude Code that do not exist here. A matcher may name them beside others. */
const elsewhere = (
  "MultiEdit NotebookEdit NotebookRead LS WebFetch WebSearch TodoWrite TodoRead BashOutput KillShell KillBash TaskOutput " +
  "TaskStop TaskCreate TaskUpdate TaskGet TaskList SlashCommand AskUserQuestion EnterPlanMode ExitPlanMode ToolSearch LSP Monitor"
).split(" ");

/** How a session begins. */
const sessionSources = ["startup", "resume", "clear"] as const;
export type SessionSource = (typeof sessionSources)[number];
/** A source of Claude Code that does not exist here. */
const otherSources = ["compact"];

const isOfServer = (name: string): boolean => /^.+__.+$/.test(name);

/** Returns the name of a tool as hooks are told it: that of Claude Code. */
export function hookToolName(tool: string): string {
  return tools[tool]?.[0] ?? (isOfServer(tool) ? `mcp__${tool}` : tool);
}

/** A matcher of these characters is a list of whole names. Any other is a regular expression. */
const LIST = /^[\w| -]*$/;

/** Returns true if a group with this matcher is for a tool, or for a source of a session. */
export function matches(matcher: string | undefined, event: HookEvent, subject: string): boolean {
  const text = matcher?.trim() ?? "";
  if (text === "" || text === "*") return true;
  const names =
    event === "SessionStart"
      ? [subject]
      : [subject, ...(tools[subject] ?? []), ...(isOfServer(subject) ? [`mcp__${subject}`] : [])];
  if (LIST.test(text)) return listOf(text).some((name) => names.includes(name));
  const expression = new RegExp(text);
  return names.some((name) => expression.test(name));
}

/** Returns why a matcher cannot work, as a sentence. Undefined if it can. */
export function whyNotMatcher(matcher: string, event: HookEvent): string | undefined {
  const text = matcher.trim();
  if (text === "" || text === "*") return undefined;
  if (event === "UserPromptSubmit" || event === "Stop")
    return `${event} has no matcher: its hooks always run.`;
  if (!LIST.test(text))
    return isExpression(text)
      ? undefined
      : `The matcher ${show(matcher)} is no regular expression.`;
  const isSession = event === "SessionStart";
  const known = isSession
    ? [...sessionSources, ...otherSources]
    : [...Object.entries(tools).flatMap(([own, others]) => [...others, own]), ...elsewhere];
  const unknown = listOf(text).find(
    (name) => !known.includes(name) && (isSession || !isOfServer(name)),
  );
  if (unknown === undefined) return undefined;
  // A misspelt name would make a guard that guards nothing.
  return `There is no ${isSession ? "source of a session" : "tool"} ${show(unknown)}.${didYouMean(unknown, known)}`;
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text).source !== "";
  } catch {
    return false;
  }
}

function listOf(text: string): string[] {
  return text
    .split("|")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
