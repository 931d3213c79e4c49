/** Reads lists of tools in files of other programs: `Read, Grep, Bash(git *)`. */

export interface ToolRule {
  readonly tool: string;
  /** The calls that are meant. Absent: all. */
  readonly pattern?: string;
}

/** Names in files of Claude Code and opencode. */
const aliases: Readonly<Record<string, string>> = {
  multiedit: "edit",
  notebookedit: "edit",
  patch: "edit",
  ls: "glob",
  list: "glob",
  shell: "bash",
  search: "grep",
  task: "agent",
};

/** Returns undefined for a text that is no rule. */
function toolRule(text: string): ToolRule | undefined {
  const match = /^([\w*-]+)(?:\(([^]*)\))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, name = "", pattern] = match;
  const tool = serverTool(name) ?? aliases[name.toLowerCase()] ?? name.toLowerCase();
  // Bash(git:*) is another spelling of Bash(git *).
  const plain = pattern?.replace(/:\*$/, " *").trim();
  return { tool, ...(plain !== undefined && plain !== "" && plain !== "*" && { pattern: plain }) };
}

/** Other programs write `mcp__server__tool`, and `mcp__server` for all tools of a server. */
function serverTool(name: string): string | undefined {
  if (!name.includes("__")) return undefined;
  const plain = name.replace(/^mcp__/, "");
  return plain.includes("__") ? plain : `${plain}__*`;
}

export interface ToolRules {
  readonly rules: readonly ToolRule[];
  /** Texts that are no rules. */
  readonly unknown: readonly string[];
}

export function toolRules(texts: readonly string[]): ToolRules {
  const read = texts.map((text) => [text, toolRule(text)] as const);
  return {
    rules: read.flatMap(([, rule]) => rule ?? []),
    unknown: read.flatMap(([text, rule]) => (rule === undefined ? [text] : [])),
  };
}

/** Returns the rule as it is written in permissions. */
export function ruleText({ tool, pattern }: ToolRule): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}
