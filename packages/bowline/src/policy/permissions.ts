/**
 * The rules of a person: those of the settings files, and those added while answering a question.
 * One judge for the command, the conversation and the gateway.
 */
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { CommandError } from "../command-error.ts";
import { oneLine } from "../terminal.ts";
import {
  addRules,
  hashOf,
  policyActions,
  readSettings,
  textOf,
  type RuleEntry,
  type RuleLists,
} from "./permission-file.ts";
import {
  defaultRules,
  hiddenPaths,
  judge,
  rightsRules,
  type Call,
  type PolicyAction,
  type PolicyRule,
  type Verdict,
} from "./policy.ts";
import { realPath } from "./real-path.ts";
import { parseRule, RuleError, ruleText, splitRules } from "./rule-text.ts";
import { suggestRules, type Suggestion } from "./suggest.ts";

/** How long a rule that a person adds applies, and where. */
export type RuleScope = "session" | "project" | "user";

/** The rules of one settings file. */
export interface PermissionSource {
  readonly path: string;
  readonly scope: "user" | "project" | "local";
  readonly permissions?: RuleLists;
  /**
   * Whether the `allow` rules of a project's file apply. Its `ask` and `deny` always do. Default
   * false.
   */
  readonly isTrusted?: boolean;
}

interface ListedRule {
  readonly rule: string;
  readonly action: PolicyAction;
  readonly scope: RuleScope | "built in";
  readonly source: string;
}

/** A call to judge. `sessionKey` is for rules of one session of the gateway. */
export type JudgedCall = Omit<Call, "sessionKey"> & Partial<Pick<Call, "sessionKey">>;

export interface Permissions {
  /** `added` are further rules for this call. */
  judge(call: JudgedCall, added?: readonly PolicyRule[]): Verdict;
  /** Returns rules that would allow this call from now on, the narrowest first. */
  suggest(call: JudgedCall): readonly Suggestion[];
  /**
   * Adds a rule, or several separated by commas. They apply at once. Rejects with `RuleError` if
   * the text is no rule, and with `CommandError` if the file cannot be written; nothing is added
   * then.
   */
  add(text: string, action: PolicyAction, scope: RuleScope): Promise<void>;
  /**
   * Throws `RuleError` if the call would still be asked about with an allow rule of this text, or
   * with several separated by commas.
   */
  assertAllows(text: string, call: JudgedCall): void;
  list(): readonly ListedRule[];
  /** Returns the path patterns that a tool's searches must omit. */
  hidden(call: Pick<Call, "tool"> & Partial<Pick<Call, "sessionKey">>): readonly string[];
  /** Rules that have no effect, for a person. */
  readonly notices: readonly string[];
}

export interface PermissionsOptions {
  readonly sources?: readonly PermissionSource[];
  /** The settings files to which rules are added. */
  readonly files?: { readonly project?: string; readonly user?: string };
  /**
   * Called after a rule was written to the project's file, with the SHA-256 of its content before,
   * undefined for a new file, and after.
   */
  readonly onProjectWrite?: (before: string | undefined, after: string) => Promise<void>;
  /** Further rules, asked for at each call. */
  readonly others?: () => readonly PolicyRule[];
  /** The working directory of the tools. Default: links are not followed. */
  readonly root?: string;
  /** Whether searches omit the paths of {@link Permissions.hidden}. Default false. */
  readonly searchesHide?: boolean;
  /**
   * Absolute paths of folders with data and settings of this program. Changes in them are asked
   * about, if they are in the working directory. Default none.
   */
  readonly ownFolders?: readonly string[];
}

interface Entry extends ListedRule {
  readonly rules: readonly PolicyRule[];
}

/** Throws `CommandError` that names the file and the rule if a text is no rule or an example fails. */
export function createPermissions(options: PermissionsOptions = {}): Permissions {
  const { sources = [], files = {}, others = () => [], root, searchesHide = false } = options;
  const { onProjectWrite, ownFolders = [] } = options;
  const notices: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  const own = rightsRules(patternsOf(ownFolders, root));
  const entries: Entry[] = [...defaultRules, ...own].map((rule) => ({
    rule: ruleText(rule),
    action: rule.action,
    scope: "built in",
    source: rule.source ?? "",
    rules: [rule],
  }));
  for (const source of sources) {
    entries.push(...entriesOf(source, root));
    const allows = source.permissions?.allow?.length ?? 0;
    if (allows > 0 && !appliesAllow(source))
      notices.push(
        `${source.path}: ${allows === 1 ? "one allow rule has" : `${allows} allow rules have`} no effect, because the folder is not trusted.`,
      );
  }
  const place = root === undefined ? undefined : { root: resolve(root), realPath };
  const judgeOptions = { searchesHide, ...(place !== undefined && { place }) };
  const all = (): PolicyRule[] => [...entries.flatMap(({ rules }) => rules), ...others()];
  return {
    notices,
    judge: (call, added = []) =>
      judge([...all(), ...added], { sessionKey: "", ...call }, judgeOptions),
    suggest: (call) => suggestRules(all(), { sessionKey: "", ...call }, judgeOptions),
    hidden: (call) => hiddenPaths(all(), { sessionKey: "", ...call }),
    assertAllows(text, call) {
      const more = splitRules(text).flatMap((one) => parseRule(one, "allow"));
      const { action, reason } = judge(
        [...all(), ...more],
        { sessionKey: "", ...call },
        judgeOptions,
      );
      if (action !== "allow") throw new RuleError(`The rule does not allow this call. ${reason}`);
    },
    list: () => entries.map(({ rule, action, scope, source }) => ({ rule, action, scope, source })),
    async add(text, action, scope) {
      const texts = splitRules(text);
      if (texts.length === 0) throw new RuleError("A rule is missing, such as bash(git log *).");
      const path = scope === "session" ? undefined : files[scope];
      if (scope !== "session" && path === undefined)
        throw new RuleError(`There is no settings file for rules of the ${scope}.`);
      const source = path ?? "this session";
      const added = texts.map((rule) => toEntry(rule, action, { scope, source }));
      if (path !== undefined) {
        const write = async (): Promise<void> => {
          const before = await readSettings(path);
          await addRules(path, action, texts);
          const after = (await readSettings(path)) ?? "";
          if (scope === "project" && after !== before)
            await onProjectWrite?.(
              before === undefined ? undefined : hashOf(before),
              hashOf(after),
            );
        };
        await (writing = writing.then(write, write));
      }
      const isKnown = ({ rule }: Entry): boolean =>
        entries.some((one) => one.rule === rule && one.action === action && one.source === source);
      entries.push(...added.filter((entry) => !isKnown(entry)));
    },
  };
}

function appliesAllow({ scope, isTrusted = false }: PermissionSource): boolean {
  return scope === "user" || isTrusted;
}

function entriesOf(source: PermissionSource, root: string | undefined): Entry[] {
  const base = baseOf(source, root);
  checkCost(source);
  return policyActions.flatMap((action) => {
    if (action === "allow" && !appliesAllow(source)) return [];
    return (source.permissions?.[action] ?? []).map((written, at) => {
      try {
        const scope = source.scope === "user" ? "user" : "project";
        const where = { scope, source: source.path } as const;
        checkExamples(written, toEntry(textOf(written), action, where));
        return toEntry(textOf(written), action, { ...where, base });
      } catch (error) {
        if (!(error instanceof RuleError)) throw error;
        const where = `${source.path}: permissions.${action}[${at}]`;
        throw new CommandError(oneLine(`${where}: ${error.message}`, 1000), { cause: error });
      }
    });
  });
}

/** The most comparisons of a letter of a rule with one of an example. They take some 0.1 s. */
const MAX_COMPARISONS = 5_000_000;

/** Throws `CommandError` if examples would take long: a stranger's file must not stall a start. */
function checkCost({ path, permissions = {} }: PermissionSource): void {
  let cost = 0;
  for (const written of policyActions.flatMap((action) => permissions[action] ?? [])) {
    if (typeof written === "string") continue;
    const { rule, match = [], notMatch = [] } = written;
    cost += rule.length * [...match, ...notMatch].join("").length;
  }
  if (cost > MAX_COMPARISONS)
    throw new CommandError(
      oneLine(`${path}: the examples of its rules are too long. Shorten or remove some.`, 1000),
    );
}

/** Returns the path from a project's settings to the working directory below them. */
function baseOf({ path, scope }: PermissionSource, root: string | undefined): string | undefined {
  if (scope === "user" || root === undefined) return undefined;
  const base = relative(dirname(resolve(path)), resolve(root));
  return base === "" || base.startsWith("..") ? undefined : base.split(sep).join("/");
}

function toEntry(
  text: string,
  action: PolicyAction,
  where: Pick<Entry, "scope" | "source"> & { readonly base?: string | undefined },
): Entry {
  const { scope, source, base } = where;
  const rules = parseRule(text, action).map((rule) => ({ ...inFolder(rule, base), source }));
  return { rule: text.trim(), action, scope, source, rules };
}

/** Returns patterns of the folders that are in the working directory. */
function patternsOf(folders: readonly string[], root: string | undefined): string[] {
  if (root === undefined) return [];
  const inside = folders.map((folder) => relative(realPath(root), realPath(folder)));
  return [...new Set(inside)]
    .filter((path) => path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path))
    .map((path) => (path === "" ? "**" : `${path.split(sep).join("/")}/**`));
}

/** Makes a rule of a folder above the working directory apply in the working directory. */
function inFolder(rule: PolicyRule, base: string | undefined): PolicyRule {
  const { tool, pattern } = rule;
  // A pattern that begins with ** applies in every folder.
  if (base === undefined || pattern === undefined || tool === "bash" || pattern.startsWith("**"))
    return rule;
  const plain = pattern.replace(/^\.\//, "");
  return plain.startsWith(`${base}/`)
    ? { ...rule, pattern: plain.slice(base.length + 1) }
    : { ...rule, base };
}

/** Throws `RuleError` if the rule covers other calls than its examples say. */
function checkExamples(written: RuleEntry, { rules }: Entry): void {
  if (typeof written === "string") return;
  const { rule, match = [], notMatch = [] } = written;
  const covers = (example: string): boolean =>
    callsOf(rules, example).some((call) =>
      rules.some((one) => {
        const { action, rule: by } = judge([one], call);
        return by !== undefined && action === one.action;
      }),
    );
  const missed = match.find((example) => !covers(example));
  if (missed !== undefined)
    throw new RuleError(
      `the rule ${JSON.stringify(rule)} does not cover its example ${JSON.stringify(missed)}.`,
    );
  const hit = notMatch.find(covers);
  if (hit !== undefined)
    throw new RuleError(
      `the rule ${JSON.stringify(rule)} covers ${JSON.stringify(hit)}, which notMatch excludes.`,
    );
}

/** Returns the calls that an example may mean. */
function callsOf(rules: readonly PolicyRule[], example: string): Call[] {
  const tool = rules[0]?.tool ?? "";
  const command = { tool: "bash", args: { command: example }, sessionKey: "" };
  const path = { tool, args: { path: example, pattern: "*" }, sessionKey: "" };
  if (tool === "*") return [command, { ...path, tool: "read" }];
  return [tool === "bash" ? command : path];
}
