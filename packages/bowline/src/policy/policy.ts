/**
 * Decides which calls may run without a question. All rules are considered: a deny wins, then an
 * ask, then an allow; without a match the call is asked about. If a call's arguments cannot be
 * parsed, rules with a pattern do not match and the call is asked about.
 */
import { whyNotPlain } from "./command-words.ts";
import {
  coverageOf,
  isAllOf,
  isHitAround,
  isHitBy,
  isPathIn,
  mayReach,
  withoutDot,
} from "./match.ts";
import {
  inBase,
  partsOf,
  pathsIn,
  pathsOf,
  showPart,
  type Part,
  type WorkingPlace,
} from "./parts.ts";
import { onlyReads } from "./reading.ts";
import { coversTool, isServerTool } from "./server-tool.ts";
import { ruleText } from "./rule-text.ts";
import type { PolicyAction, PolicyRule } from "./rule.ts";

export type { PolicyAction, PolicyRule } from "./rule.ts";

export interface Call {
  readonly tool: string;
  readonly args: unknown;
  readonly sessionKey: string;
}

export interface Verdict {
  readonly action: PolicyAction;
  /** The rule that decided; the first of several that allow the parts of a command. */
  readonly rule?: PolicyRule;
  /** Why, as a sentence for a person. Contains text of the call as it is. */
  readonly reason: string;
  /** The commands or paths of the call. Empty if they could not be parsed. */
  readonly parts: readonly string[];
}

/**
 * Files that decide what may run: a call that changes one is always asked about, whatever else is
 * allowed. Otherwise an agent that may edit files could give itself more rights.
 */
const rightsFiles = [
  "**/.mcp.json",
  "**/bowline.json",
  "**/bowline.local.json",
  "**/.bowline/**",
  "**/.claude/**",
  "**/.agents/**",
  "**/.git",
  "**/.git/**",
];

const BUILT_IN = "built in";

/** Allows the tools that only read, and asks about {@link rightsFiles}. */
export const defaultRules: readonly PolicyRule[] = [
  ...["read", "grep", "glob"].map((tool) => builtIn({ action: "allow", tool })),
  ...rightsRules(rightsFiles),
];

/** Returns built-in rules that ask about changes of files. */
export function rightsRules(patterns: readonly string[]): PolicyRule[] {
  return ["write", "edit"].flatMap((tool) =>
    patterns.map((pattern) => builtIn({ action: "ask", tool, pattern })),
  );
}

function builtIn(rule: PolicyRule): PolicyRule {
  return { ...rule, source: BUILT_IN };
}

export interface JudgeOptions {
  /**
   * Whether searches omit the paths of {@link hiddenPaths}. If not, a search that would reach one
   * is asked about. Default false.
   */
  readonly searchesHide?: boolean;
  /** The working directory. Default: links are not followed and absolute paths are asked about. */
  readonly place?: WorkingPlace;
}

export function judge(
  rules: readonly PolicyRule[],
  call: Call,
  { searchesHide = false, place }: JudgeOptions = {},
): Verdict {
  const own = ofCall(rules, call);
  const parts = partsOf(call, place);
  const shown = parts?.map(showPart) ?? [];
  const verdict = (action: PolicyAction, reason: string, rule?: PolicyRule): Verdict => ({
    action,
    ...(rule !== undefined && { rule }),
    reason,
    parts: shown,
  });
  // One denied part is enough.
  const isHit = ({ tool, pattern, base }: PolicyRule): boolean =>
    pattern === undefined ||
    (parts?.some(
      (part) =>
        isHitBy(pattern, inBase(part, base)) ||
        isAllOf(pattern, inBase(part, base)) ||
        (tool === "*" && isPathIn(pattern, part, { place, base })),
    ) ??
      false);
  for (const action of ["deny", "ask"] as const) {
    const hit = own.find((rule) => rule.action === action && isHit(rule));
    if (hit === undefined) continue;
    return verdict(action, `${named(hit)} ${action === "deny" ? "denies" : "asks about"} it.`, hit);
  }
  // The call may include something that a pattern denies.
  const isUnclear = ({ tool, action, pattern, base }: PolicyRule): boolean => {
    if (action === "allow" || pattern === undefined) return false;
    if (parts === undefined) return true;
    const reaches = (paths: readonly string[]): boolean =>
      paths.some((path) => mayReach(pattern, path));
    return parts.some((part) => {
      // A search omits the paths of a pattern only if it is relative to the working directory.
      if (part.kind === "tree")
        return (!searchesHide || base !== undefined) && reaches(pathsOf(inBase(part, base)));
      if (isHitAround(pattern, part)) return true;
      return tool === "*" && reaches(pathsIn(part, { place, base }));
    });
  };
  // A rule that a person wrote says more than a built-in one.
  const unclears = own.filter(isUnclear);
  const unclear = unclears.find(({ source }) => source !== BUILT_IN) ?? unclears[0];
  if (unclear !== undefined) {
    const mayApply = `${named(unclear)} may apply to a part of it.`;
    if (parts !== undefined || isServerTool(call.tool)) return verdict("ask", mayApply, unclear);
    const why = whyNoParts(call);
    return verdict("ask", unclear.source === BUILT_IN ? why : `${why} ${mayApply}`, unclear);
  }
  const byName = ofNames(rules, call, parts ?? [], place);
  if (byName !== undefined) return verdict("ask", ...byName);
  const allows = own.filter(({ action }) => action === "allow");
  const whole = allows.find(({ pattern }) => pattern === undefined);
  if (whole !== undefined) return verdict("allow", `${named(whole)} allows it.`, whole);
  // Only its server knows what a path in the arguments means, so no pattern allows it.
  if (isServerTool(call.tool)) return verdict("ask", noRuleFor(call));
  if (parts === undefined) return verdict("ask", whyNoParts(call));
  return everyPart(allows, parts, verdict);
}

/**
 * Returns why a command or an edit is asked about that names a file which other tools may not change
 * or read: its result can show the file, and a command can change it.
 */
function ofNames(
  rules: readonly PolicyRule[],
  { tool, sessionKey }: Call,
  parts: readonly Part[],
  place: WorkingPlace | undefined,
): readonly [reason: string, rule: PolicyRule] | undefined {
  if (tool !== "bash" && tool !== "edit") return undefined;
  for (const rule of rules) {
    const { action, pattern, base } = rule;
    if (action === "allow" || pattern === undefined || !isOfSession(rule, sessionKey)) continue;
    const isRights = rule.source === BUILT_IN && rule.tool === "write" && tool === "bash";
    if (!isRights && rule.tool !== "read") continue;
    const isNamed = parts.some((part) => {
      if (part.kind !== "words") return isHitBy(pattern, inBase(part, base));
      return !(isRights && onlyReads(part.words)) && isPathIn(pattern, part, { place, base });
    });
    if (!isNamed) continue;
    if (!isRights) return [`${named(rule)} may apply to a file that it names.`, rule];
    return [`It names a file that decides what may run (${pattern}).`, rule];
  }
  return undefined;
}

/** Returns `allow` if each part has a rule that covers it. */
function everyPart(
  allows: readonly PolicyRule[],
  parts: readonly Part[],
  verdict: (action: PolicyAction, reason: string, rule?: PolicyRule) => Verdict,
): Verdict {
  const used: PolicyRule[] = [];
  for (const part of parts) {
    let why = `No rule allows ${JSON.stringify(showPart(part))}.`;
    const rule = allows.find((allow) => {
      if (parts.length > 1 && changesFolder(part) && allow.pattern?.includes("*") === true) {
        why = `${showPart(part)} changes the folder in which the next command runs.`;
        return false;
      }
      const coverage = coverageOf(allow.pattern ?? "", inBase(part, allow.base));
      if (coverage.kind === "risky") why = `${named(allow)} does not cover it: ${coverage.why}.`;
      return coverage.kind === "covered";
    });
    if (rule === undefined) return verdict("ask", why);
    if (!used.includes(rule)) used.push(rule);
  }
  const does = used.length === 1 ? "allows" : "together allow";
  return verdict("allow", `${used.map(named).join(" and ")} ${does} it.`, used[0]);
}

function changesFolder(part: Part): boolean {
  return part.kind === "words" && ["cd", "pushd", "popd"].includes(part.words[0] ?? "");
}

function noRuleFor({ tool }: Call): string {
  return `No rule allows ${tool}, a tool of an MCP server.`;
}

function whyNoParts({ tool, args }: Call): string {
  if (tool !== "bash")
    return "The path cannot be judged: it is missing, has .. or is outside the working directory.";
  const { command } = (args ?? {}) as { readonly command?: unknown };
  const why = typeof command === "string" ? whyNotPlain(command) : "it is no text";
  return `The command cannot be judged: ${why}.`;
}

function named(rule: PolicyRule): string {
  return `${ruleText(rule)}${rule.source === undefined ? "" : ` (${rule.source})`}`;
}

/** Returns the path patterns that a search must omit: those with a deny or an ask. */
export function hiddenPaths(
  rules: readonly PolicyRule[],
  call: Pick<Call, "tool" | "sessionKey">,
): string[] {
  return ofCall(rules, call).flatMap(({ action, pattern, base }) =>
    action === "allow" || pattern === undefined || base !== undefined ? [] : [withoutDot(pattern)],
  );
}

function ofCall(
  rules: readonly PolicyRule[],
  call: Pick<Call, "tool" | "sessionKey">,
): readonly PolicyRule[] {
  return rules.filter((rule) => isFor(rule, call.tool) && isOfSession(rule, call.sessionKey));
}

/** grep shows what is in files, so what may not be read is not searched either. */
function isFor({ tool, action, pattern }: PolicyRule, called: string): boolean {
  const isRead = tool === "read" && action !== "allow" && pattern !== undefined;
  return coversTool(tool, called) || (isRead && called === "grep");
}

function isOfSession({ sessionKey }: PolicyRule, called: string): boolean {
  return sessionKey === undefined || sessionKey === called;
}

/** Returns the narrowest pattern that covers a call; undefined if there is none. */
export function patternOf(call: Call): string | undefined {
  if (isServerTool(call.tool)) return undefined;
  const parts = partsOf(call);
  if (parts === undefined || parts.length !== 1) return undefined;
  return patternOfPart(parts[0] as Part);
}

/** Returns the narrowest pattern that covers a part; undefined if there is none. */
function patternOfPart(part: Part): string | undefined {
  // A literal star would be read as a pattern, and a word with spaces would be split.
  if (part.kind !== "words") return part.path.includes("*") ? undefined : part.path;
  return part.words.some((word) => /[*\s]/.test(word) || word === "")
    ? undefined
    : part.words.join(" ");
}

/** Returns true if a rule with this pattern would cover the call. */
export function covers(pattern: string, call: Call): boolean {
  return partsOf(call)?.every((part) => coverageOf(pattern, part).kind === "covered") ?? false;
}
