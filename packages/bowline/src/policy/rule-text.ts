/** Rules as texts: `bash(git log *)`, `edit(src/**)`, `read(.env)`, `bash`, `*`. */
import { isServerTool } from "./server-tool.ts";
import type { PolicyAction, PolicyRule } from "./rule.ts";

/** A text that is no rule. The message says why and what to write. */
export class RuleError extends Error {
  override readonly name: string = "RuleError";
}

const ownTools = ["bash", "read", "write", "edit", "grep", "glob"];
const pathTools: ReadonlySet<string> = new Set(["read", "write", "edit", "grep", "glob", "*"]);
const MAX_TEXT = 2_000;

/** Formats a rule as text. */
export function ruleText({ tool, pattern }: Pick<PolicyRule, "tool" | "pattern">): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

/**
 * Parses one rule. Throws {@link RuleError}. A deny or ask that ends in `:*` becomes two rules:
 * other tools read that ending as "and any words". One that names a path also covers what is below
 * it.
 */
export function parseRule(text: string, action: PolicyAction): readonly PolicyRule[] {
  const show = JSON.stringify(text);
  if (text.length > MAX_TEXT)
    throw new RuleError(`A rule has at most ${MAX_TEXT} characters, not ${text.length}.`);
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text))
    throw new RuleError(`${show} contains an invisible character.`);
  const [, tool = "", brackets, pattern = ""] = /^([^\s()]+)(\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (tool === "")
    throw new RuleError(
      `${show} is no rule. Write a tool's name, or a tool and a pattern such as bash(git log *).`,
    );
  checkTool(tool, show);
  const plain = pattern.trim();
  if (brackets === undefined || (plain === "*" && tool === "bash") || plain === "**")
    return [{ action, tool }];
  if (isServerTool(tool))
    throw new RuleError(
      `${show}: a tool of an MCP server takes no pattern, because only the server knows what its arguments mean. Write ${tool}.`,
    );
  if (plain === "")
    throw new RuleError(`${show} has an empty pattern. Write ${tool} for every call.`);
  if (tool !== "bash" && tool !== "*") checkPath(plain, show);
  const rule: PolicyRule = { action, tool, pattern: plain };
  if (action === "allow") return [rule];
  const sign = tool === "bash" ? /[|;&<>"'`$\\(){}]/.exec(plain)?.[0] : undefined;
  if (sign !== undefined)
    throw new RuleError(
      `${show} has the character ${sign}. Write the words of one command, without quotes: each part of a command is compared alone.`,
    );
  if (tool === "bash")
    return plain.endsWith(":*")
      ? [rule, { action, tool, pattern: `${plain.slice(0, -2)} *` }]
      : [rule];
  // A folder without what is in it would be denied in vain.
  const isFolder = pathTools.has(tool) && !/\*[^/]*$/.test(plain);
  return isFolder ? [rule, { action, tool, pattern: `${plain}/**` }] : [rule];
}

/** Splits a text of several rules at the commas outside of brackets. */
export function splitRules(text: string): string[] {
  const rules: string[] = [];
  let depth = 0;
  let rule = "";
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === "," && depth <= 0) {
      rules.push(rule);
      rule = "";
    } else rule += char;
  }
  return [...rules, rule].map((one) => one.trim()).filter((one) => one !== "");
}

/** A misspelt tool would make a deny without effect. */
function checkTool(tool: string, show: string): void {
  if (ownTools.includes(tool)) return;
  const near = ownTools.find((name) => isNear(name, tool.toLowerCase()));
  if (near !== undefined)
    throw new RuleError(`${show}: there is no tool ${tool}. Did you mean ${near}?`);
  if (isServerTool(tool)) return checkServerTool(tool, show);
  if (tool !== "*" && tool.includes("*"))
    throw new RuleError(
      `${show}: a star cannot be a part of a tool's name. Write * for every tool.`,
    );
}

/** `server__tool`, or `server__*` for all tools of the server. */
function checkServerTool(tool: string, show: string): void {
  if (tool.startsWith("mcp__")) {
    const rest = tool.slice("mcp__".length);
    const named = isServerTool(rest) ? rest : rest.includes("*") ? "server__*" : `${rest}__*`;
    throw new RuleError(`${show}: tools of MCP servers are named without mcp__: ${named}.`);
  }
  if (!/^[\w-]+?__(?:[\w-]+|\*)$/.test(tool))
    throw new RuleError(`${show}: write server__tool, or server__* for every tool of a server.`);
}

function checkPath(pattern: string, show: string): void {
  if (/^[/~\\]|^[a-z]:[/\\]/i.test(pattern) || pattern.split("/").includes(".."))
    throw new RuleError(
      `${show}: a path is relative to the working directory and has no "..", such as src/**.`,
    );
  // Paths are compared without these, so that such a rule would cover nothing.
  if (/\/$|\/\/|(?:^|\/)\.(?:\/|$)|\\/.test(pattern.replace(/^\.\/(?=.)/, "")))
    throw new RuleError(
      `${show}: write a path without "//", "/./", "\\" and a slash at the end. For what is in a folder, write src/**.`,
    );
}

/** Returns true if the names are equal, or differ by one letter or two swapped letters. */
function isNear(name: string, given: string): boolean {
  if (name === given) return true;
  let start = 0;
  while (start < name.length && name[start] === given[start]) start++;
  const [rest, other] = [name.slice(start), given.slice(start)];
  return (
    rest.slice(1) === other ||
    rest === other.slice(1) ||
    rest.slice(1) === other.slice(1) ||
    (rest.slice(0, 2) === `${other[1]}${other[0]}` && rest.slice(2) === other.slice(2))
  );
}
