/** Finds the rules that a person may want to remember for a call. */
import { isInterpreter, whyRisky } from "./risky-options.ts";
import { partsOf, type Part } from "./parts.ts";
import { judge, type Call, type JudgeOptions, type PolicyRule } from "./policy.ts";
import { parseRule, RuleError, ruleText } from "./rule-text.ts";
import { isServerTool, wholeServer } from "./server-tool.ts";

export interface Suggestion {
  /** A rule, or several separated by commas, as `add` takes them. */
  readonly rule: string;
  /** The calls that the rule would allow as well, for a person. */
  readonly also: string;
}

/** Commands that are named by two words: a star after the first would cover too much. */
const withCommands = new Set(
  (
    "git npm pnpm yarn bun deno cargo go docker podman kubectl helm gh glab pip pip3 uv poetry bundle composer dotnet mvn gradle " +
    "terraform brew apt apt-get dnf systemctl aws gcloud az vercel netlify supabase prisma turbo nx lerna make"
  ).split(" "),
);

/** Programs that change or send things: only the very command is offered. */
const exactOnly = new Set(
  (
    "rm rmdir mv cp dd chmod chown chgrp ln tee truncate shred kill pkill killall curl wget scp sftp rsync install mkfs mount umount " +
    "shutdown reboot crontab docker podman kubectl systemctl cd pushd popd node deno"
  ).split(" "),
);

const exactCommands: Readonly<Record<string, string>> = {
  git: "push reset clean checkout restore rebase filter-branch config remote submodule worktree stash bisect rm mv gc reflog update-ref",
  npm: "publish unpublish install i add ci exec x uninstall link config",
  pnpm: "publish install i add exec dlx remove",
  yarn: "publish install add exec dlx remove",
  gh: "api repo secret auth alias extension",
};

/** A person cannot judge the rules for more commands than these at once. */
const MAX_COMMANDS = 5;

/** Programs that run what their arguments say. Nothing is offered for them. */
const runners = new Set(["find", "fd", "fdfind", "node", "deno", "java", "php"]);

/** Tools for which a call without an understood command or path cannot be judged by a rule. */
const fileTools = new Set(["bash", "read", "write", "edit", "grep", "glob"]);

/**
 * Returns suggestions, the narrowest first. None that would not allow the call, and none for
 * commands that cannot be parsed or that run others.
 */
export function suggestRules(
  rules: readonly PolicyRule[],
  call: Call,
  options: JudgeOptions,
): readonly Suggestion[] {
  const parts = partsOf(call, options.place);
  const isAllowed = (more: readonly PolicyRule[]): boolean =>
    judge([...rules, ...more], call, options).action === "allow";
  if (isAllowed([]) || (parts === undefined && fileTools.has(call.tool))) return [];
  const candidates =
    call.tool === "bash" ? ofCommand(rules, parts ?? [], options) : ofPath(call.tool, parts?.[0]);
  const known = new Set<string>();
  return candidates
    .filter(({ rule, rules: more }) => {
      if (known.has(rule)) return false;
      known.add(rule);
      return isAllowed(more);
    })
    .map(({ rule, also }) => ({ rule, also }));
}

interface Candidate extends Suggestion {
  readonly rules: readonly PolicyRule[];
}

function ofCommand(
  rules: readonly PolicyRule[],
  parts: readonly Part[],
  options: JudgeOptions,
): Candidate[] {
  const commands = parts.flatMap((part) => (part.kind === "words" ? [part.words] : []));
  const open = commands.filter((words) => {
    const command = words.map((word) => `'${word.replaceAll("'", "")}'`).join(" ");
    const call = { tool: "bash", args: { command }, sessionKey: "" };
    return judge(rules, call, options).action !== "allow";
  });
  if (open.length > MAX_COMMANDS) return [];
  const exact = open.map(exactPattern);
  const prefix = open.map(prefixPattern);
  const found: Candidate[] = [];
  if (exact.every(isText)) found.push(candidate(exact, "nothing else"));
  // The exact rule where no prefix may be remembered.
  const wide = prefix.map((pattern, at) => pattern ?? exact[at]);
  if (wide.every(isText) && prefix.some(isText)) {
    const begins = [...new Set(prefix)]
      .filter(isText)
      .map((pattern) => `"${pattern.slice(0, -2)}"`);
    found.push(
      candidate(
        wide,
        `every command that begins with ${begins.join(" or ")}, unless it has an option that is known to write files or run programs`,
      ),
    );
  }
  return found.filter(isCandidate);
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

function isCandidate({ rules }: Candidate): boolean {
  return rules.length > 0;
}

function candidate(patterns: readonly string[], also: string): Candidate {
  const texts = [...new Set(patterns)].map((pattern) => ruleText({ tool: "bash", pattern }));
  return { rule: texts.join(", "), also, rules: parsed(texts) };
}

/** Returns the rules; none if a text is no rule. */
function parsed(texts: readonly string[]): readonly PolicyRule[] {
  try {
    return texts.flatMap((text) => parseRule(text, "allow"));
  } catch (error) {
    if (error instanceof RuleError) return [];
    throw error;
  }
}

/** Returns the words as a pattern, if each is plain enough to be read in a rule. */
function exactPattern(words: readonly string[]): string | undefined {
  const [program = ""] = words;
  const isReadable = words.every((word) => /^[\w./:=@%+~^-]+$/.test(word));
  if (!isReadable || isInterpreter(program) || runners.has(program)) return undefined;
  return whyRisky(words, 1) === undefined ? words.join(" ") : undefined;
}

function prefixPattern(words: readonly string[]): string | undefined {
  const [program = "", command = "", script = ""] = words;
  if (!/^[\w.-]+$/.test(program) || isInterpreter(program)) return undefined;
  if (exactOnly.has(program) || runners.has(program)) return undefined;
  if (!withCommands.has(program)) return `${program} *`;
  if (!/^[a-z][\w:-]*$/i.test(command)) return undefined;
  if (exactCommands[program]?.split(" ").includes(command) === true) return undefined;
  if (command !== "run") return `${program} ${command} *`;
  return /^[a-z][\w:.-]*$/i.test(script) ? `${program} run ${script} *` : undefined;
}

function ofPath(tool: string, part: Part | undefined): Candidate[] {
  const found: Candidate[] = [];
  if (part !== undefined && part.kind !== "words" && isPlain(part)) {
    const { path } = part;
    found.push(withPath(tool, path, "nothing else: only this path"));
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (path.includes("/"))
      found.push(withPath(tool, `${folder}/**`, `every path below ${folder}`));
  }
  found.push({
    rule: tool,
    also: `every call of ${tool}, whatever its arguments are`,
    rules: parsed([tool]),
  });
  if (isServerTool(tool)) {
    const rule = wholeServer(tool);
    const also = `every call of every tool that the server has, also of those that it adds later`;
    found.push({ rule, also, rules: parsed([rule]) });
  }
  return found.filter(isCandidate);
}

function isPlain({ path, target }: Exclude<Part, { kind: "words" }>): boolean {
  return target === undefined && !/[*()\\]/.test(path) && path !== ".";
}

function withPath(tool: string, pattern: string, also: string): Candidate {
  const rule = ruleText({ tool, pattern });
  return { rule, also, rules: parsed([rule]) };
}
