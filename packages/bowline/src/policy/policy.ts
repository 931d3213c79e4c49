/**
 * Decides which calls may run without a question. All rules are considered: a deny wins, then an
 * ask, then an allow; without a match the call is asked about. If a call's arguments cannot be
 * parsed, rules with a pattern do not match and the call is asked about.
 */
import { isLike } from "../is-like.ts";
import { commandWords } from "./command-words.ts";

export type PolicyAction = "allow" | "ask" | "deny";

export interface PolicyRule {
  readonly action: PolicyAction;
  /** A tool's name, or `*`. */
  readonly tool: string;
  /**
   * The calls that the rule covers. For bash: words, where `*` matches any letters and, as the last
   * word, any words (`git status *`). For tools with a `path`: a path, where `*` matches a name and
   * `**` any folders. grep and glob reach everything below their path. With the tool `*` the
   * pattern is matched against bash words and the paths among them. Absent: every call.
   */
  readonly pattern?: string;
  /** Limits the rule to one session. */
  readonly sessionKey?: string;
}

export interface Call {
  readonly tool: string;
  readonly args: unknown;
  readonly sessionKey: string;
}

export interface Verdict {
  readonly action: PolicyAction;
  readonly rule?: PolicyRule;
}

/** Allows the tools that only read. */
export const defaultRules: readonly PolicyRule[] = ["read", "grep", "glob"].map((tool) => ({
  action: "allow",
  tool,
}));

export interface JudgeOptions {
  /**
   * Whether searches omit the paths of {@link hiddenPaths}. If not, a search that would reach one
   * is asked about. Default false.
   */
  readonly searchesHide?: boolean;
}

export function judge(
  rules: readonly PolicyRule[],
  call: Call,
  { searchesHide = false }: JudgeOptions = {},
): Verdict {
  const own = ofCall(rules, call);
  const parts = partsOf(call);
  const isHit = ({ tool, pattern, action }: PolicyRule): boolean => {
    if (pattern === undefined) return true;
    // One denied part is enough; an allow must cover all parts.
    if (parts === undefined) return false;
    if (action === "allow") return parts.every((part) => matches(pattern, part));
    return parts.some(
      (part) =>
        matches(pattern, part) ||
        isAllOf(pattern, part) ||
        (tool === "*" && pathsIn(part).some((path) => isPathLike(pattern, path))),
    );
  };
  const denied = own.find((rule) => rule.action === "deny" && isHit(rule));
  if (denied !== undefined) return { action: "deny", rule: denied };
  const asked = own.find((rule) => rule.action === "ask" && isHit(rule));
  if (asked !== undefined) return { action: "ask", rule: asked };
  // The call may include something that a pattern denies.
  const isUnclear = ({ tool, action, pattern }: PolicyRule): boolean => {
    if (action === "allow" || pattern === undefined) return false;
    if (parts === undefined) return true;
    return parts.some((part) => {
      if (part.kind === "tree") return !searchesHide && mayReach(pattern, part.path);
      return tool === "*" && pathsIn(part).some((path) => mayReach(pattern, path));
    });
  };
  if (own.some(isUnclear)) return { action: "ask" };
  const allowed = own.find((rule) => rule.action === "allow" && isHit(rule));
  if (allowed !== undefined) return { action: "allow", rule: allowed };
  const allows = own.filter(({ action }) => action === "allow");
  const isCovered =
    parts?.every((part) => allows.some(({ pattern }) => pattern && matches(pattern, part))) ??
    false;
  return { action: isCovered && allows.length > 0 ? "allow" : "ask" };
}

/** Returns the path patterns that a search must omit: those with a deny or an ask. */
export function hiddenPaths(
  rules: readonly PolicyRule[],
  call: Pick<Call, "tool" | "sessionKey">,
): string[] {
  return ofCall(rules, call).flatMap(({ action, pattern }) =>
    action === "allow" || pattern === undefined ? [] : [withoutDot(pattern)],
  );
}

function ofCall(
  rules: readonly PolicyRule[],
  call: Pick<Call, "tool" | "sessionKey">,
): readonly PolicyRule[] {
  return rules.filter(
    ({ tool, sessionKey }) =>
      (tool === "*" || tool === call.tool) &&
      (sessionKey === undefined || sessionKey === call.sessionKey),
  );
}

/** Returns the narrowest pattern that covers a call; undefined if there is none. */
export function patternOf(call: Call): string | undefined {
  const parts = partsOf(call);
  if (parts === undefined || parts.length !== 1) return undefined;
  const [part] = parts as [Part];
  // A literal star would be read as a pattern, and a word with spaces would be split.
  if (part.kind !== "words") return part.path.includes("*") ? undefined : part.path;
  return part.words.some((word) => /[*\s]/.test(word) || word === "")
    ? undefined
    : part.words.join(" ");
}

/** Returns true if a rule with this pattern would cover the call. */
export function covers(pattern: string, call: Call): boolean {
  return partsOf(call)?.every((part) => matches(pattern, part)) ?? false;
}

type Part =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "path"; readonly path: string }
  /** Everything below a folder. */
  | { readonly kind: "tree"; readonly path: string };

function partsOf({ tool, args }: Call): Part[] | undefined {
  const { command, path, pattern } = (args ?? {}) as Readonly<Record<string, unknown>>;
  if (tool === "bash") {
    const commands = typeof command === "string" ? commandWords(command) : undefined;
    return commands?.map((words) => ({ kind: "words", words }));
  }
  if (tool !== "grep" && tool !== "glob") {
    const plain = plainPath(path);
    return plain === undefined ? undefined : [{ kind: "path", path: plain }];
  }
  // A glob may start with "../".
  const isOdd = tool === "glob" && (typeof pattern !== "string" || /^\/|\.\./.test(pattern));
  const plain = path === undefined || path === "" ? "." : plainPath(path);
  return plain === undefined || isOdd ? undefined : [{ kind: "tree", path: plain }];
}

/** Normalises a path. Returns undefined if it is not relative or contains "..". */
function plainPath(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "" || /^[/~\\]|^[a-z]:|\0|\\/i.test(path))
    return undefined;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return names.includes("..") ? undefined : names.join("/") || ".";
}

function matches(pattern: string, part: Part): boolean {
  if (part.kind !== "words") return isPathLike(pattern, part.path);
  const words = pattern.trim().split(/\s+/);
  const isOpen = words.at(-1) === "*" && words.length > 1;
  const fixed = isOpen ? words.slice(0, -1) : words;
  if (isOpen ? part.words.length < fixed.length : part.words.length !== fixed.length) return false;
  return fixed.every((word, index) => isLike(word, part.words[index] as string));
}

function isPathLike(pattern: string, path: string): boolean {
  return isLike(withoutDot(pattern), path, "/");
}

function withoutDot(pattern: string): string {
  return pattern.replace(/^\.\//, "");
}

/**
 * Returns true if a pattern covers everything below a folder. Names cannot contain NUL, so only
 * stars match it.
 */
function isAllOf(pattern: string, part: Part): boolean {
  if (part.kind !== "tree") return false;
  const folder = part.path === "." ? "" : `${part.path}/`;
  return ["\0", "\0/\0"].every((below) => isPathLike(pattern, folder + below));
}

/**
 * Returns true if a pattern may match something below a folder, judged by the part before its first
 * star.
 */
function mayReach(pattern: string, folder: string): boolean {
  const [start = ""] = withoutDot(pattern).split("*");
  const below = folder === "." ? "" : `${folder}/`;
  return start.startsWith(below) || below.startsWith(start);
}

/** Returns the paths that the words of a command may name; "." for one that may lead anywhere. */
function pathsIn(part: Part): string[] {
  if (part.kind !== "words") return [];
  return part.words
    .flatMap((word) => word.replace(/^-+/, "").split(/[=:,]/))
    .filter((piece) => piece !== "")
    .map((piece) => plainPath(piece) ?? ".");
}
