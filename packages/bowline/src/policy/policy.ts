/**
 * Which calls may run without being asked about. Rules are looked at together: a deny wins, then an
 * ask, then an allow; what no rule names is asked about. A rule with a pattern says nothing of
 * arguments that cannot be taken apart: such a call is asked about.
 */
import { commandWords } from "./command-words.ts";

export type PolicyAction = "allow" | "ask" | "deny";

export interface PolicyRule {
  readonly action: PolicyAction;
  /** A tool's name, or `*`. */
  readonly tool: string;
  /**
   * Of bash: words, in which `*` stands for any letters and, as the last word, for any words (`git
   * status *`). Of tools with a `path`: a path in which `*` stands for a name and `**` for any
   * folders. Absent: every call.
   */
  readonly pattern?: string;
  /** Only there. */
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

/** What only reads is allowed. */
export const defaultRules: readonly PolicyRule[] = ["read", "grep", "glob"].map((tool) => ({
  action: "allow",
  tool,
}));

export function judge(rules: readonly PolicyRule[], call: Call): Verdict {
  const own = rules.filter(
    ({ tool, sessionKey }) =>
      (tool === "*" || tool === call.tool) &&
      (sessionKey === undefined || sessionKey === call.sessionKey),
  );
  const parts = partsOf(call);
  const isHit = ({ pattern, action }: PolicyRule): boolean => {
    if (pattern === undefined) return true;
    // One part that is denied is enough; an allowance has to cover all.
    if (parts === undefined) return false;
    const hits = (part: Part): boolean => matches(pattern, part);
    return action === "allow" ? parts.every(hits) : parts.some(hits);
  };
  const denied = own.find((rule) => rule.action === "deny" && isHit(rule));
  if (denied !== undefined) return { action: "deny", rule: denied };
  const asked = own.find((rule) => rule.action === "ask" && isHit(rule));
  if (asked !== undefined) return { action: "ask", rule: asked };
  // It might be what a pattern denies.
  if (
    parts === undefined &&
    own.some(({ action, pattern }) => action !== "allow" && pattern !== undefined)
  )
    return { action: "ask" };
  const allowed = own.find((rule) => rule.action === "allow" && isHit(rule));
  if (allowed !== undefined) return { action: "allow", rule: allowed };
  const allows = own.filter(({ action }) => action === "allow");
  const isCovered =
    parts?.every((part) => allows.some(({ pattern }) => pattern && matches(pattern, part))) ??
    false;
  return { action: isCovered && allows.length > 0 ? "allow" : "ask" };
}

/** The narrowest pattern that covers a call; undefined when none can. */
export function patternOf(call: Call): string | undefined {
  const parts = partsOf(call);
  if (parts === undefined || parts.length !== 1) return undefined;
  const [part] = parts as [Part];
  // A star of its own would be read as a pattern, and words with spaces would fall apart.
  if (part.kind === "path") return part.path.includes("*") ? undefined : part.path;
  return part.words.some((word) => /[*\s]/.test(word) || word === "")
    ? undefined
    : part.words.join(" ");
}

/** Whether a rule of this pattern would cover the call. */
export function covers(pattern: string, call: Call): boolean {
  return partsOf(call)?.every((part) => matches(pattern, part)) ?? false;
}

type Part =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "path"; readonly path: string };

function partsOf({ tool, args }: Call): Part[] | undefined {
  const { command, path } = (args ?? {}) as { readonly command?: unknown; readonly path?: unknown };
  if (tool === "bash") {
    const commands = typeof command === "string" ? commandWords(command) : undefined;
    return commands?.map((words) => ({ kind: "words", words }));
  }
  if (typeof path !== "string" || !isPlainPath(path)) return undefined;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return [{ kind: "path", path: names.join("/") || "." }];
}

/** Relative, and without ways up or around. */
function isPlainPath(path: string): boolean {
  return (
    path !== "" &&
    !/^[/~\\]|^[a-z]:|\0|\\/i.test(path) &&
    !path.split("/").some((part) => part === "..")
  );
}

function matches(pattern: string, part: Part): boolean {
  if (part.kind === "path") return isLike(pattern.replace(/^\.\//, ""), part.path, "/");
  const words = pattern.trim().split(/\s+/);
  const isOpen = words.at(-1) === "*" && words.length > 1;
  const fixed = isOpen ? words.slice(0, -1) : words;
  if (isOpen ? part.words.length < fixed.length : part.words.length !== fixed.length) return false;
  return fixed.every((word, index) => isLike(word, part.words[index] as string));
}

/**
 * Whether a pattern covers all of a text; one star stops at the separator, if there is one. All
 * ways are followed side by side: a text is the model's, and a regular expression of several stars
 * can take for ever over one.
 */
function isLike(pattern: string, text: string, separator?: string): boolean {
  // Any folders with the stroke behind them, or nothing: the first step leads over all three.
  const steps = (pattern.match(/\*\*\/|\*\*|[^]/gu) ?? []).flatMap((step) =>
    step === "**/" ? [step, "**", "/"] : step,
  );
  const begun = new Uint8Array(steps.length + 1);
  begun[0] = 1;
  let reached = alsoWithout(steps, begun);
  for (const char of text) {
    const next = new Uint8Array(steps.length + 1);
    for (const [at, step] of steps.entries()) {
      if (reached[at] === 0) continue;
      if (step === "**" || (step === "*" && char !== separator)) next[at] = 1;
      else if (step === char) next[at + 1] = 1;
    }
    reached = alsoWithout(steps, next);
  }
  return reached[steps.length] === 1;
}

/**
 * What can be reached further without another letter: stars may stand for nothing. Changes and
 * gives the list.
 */
function alsoWithout(steps: readonly string[], reached: Uint8Array): Uint8Array {
  for (const [at, step] of steps.entries()) {
    if (reached[at] === 0 || !step.startsWith("*")) continue;
    reached[at + 1] = 1;
    if (step === "**/") reached[at + 3] = 1;
  }
  return reached;
}
