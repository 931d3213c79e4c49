/** The `permissions` of a settings file: reads them, adds a rule, removes one. */
import { createHash } from "node:crypto";
import { lstat, readFile, realpath, rm, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { isBowlineError } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { replaceFile } from "../replace-file.ts";
import { oneLine } from "../terminal.ts";
import { addToList, findTwin, removeFromList } from "./json-edit.ts";
import type { PolicyAction } from "./policy.ts";

/** A rule as it is written in settings. */
export type RuleEntry =
  | string
  | {
      readonly rule: string;
      /** Calls that the rule must cover. */
      readonly match?: readonly string[];
      /** Calls that the rule must not cover. */
      readonly notMatch?: readonly string[];
    };

/** The `permissions` of a settings file. */
export type RuleLists = Readonly<Partial<Record<PolicyAction, readonly RuleEntry[]>>>;

export const policyActions: readonly PolicyAction[] = ["allow", "ask", "deny"];

const MAX_BYTES = 1024 * 1024;
const MAX_RULES = 500;

/** Adds rules to a file, and creates it. Rules that it has already are not added again. */
export async function addRules(
  path: string,
  action: PolicyAction,
  rules: readonly string[],
): Promise<void> {
  const text = (await readSettings(path))?.replace(/^\uFEFF/, "") ?? "{}\n";
  const known = (parsePermissions(text, path)[action] ?? []).map(textOf);
  const missing = rules.filter((rule) => !known.includes(rule));
  if (missing.length === 0) return;
  await write(path, addToList(text, ["permissions", action], missing));
}

/** Removes a rule from a file. Returns the actions of the lists that had it. */
export async function removeRule(path: string, rule: string): Promise<readonly PolicyAction[]> {
  let text = (await readSettings(path))?.replace(/^\uFEFF/, "");
  const removed: PolicyAction[] = [];
  if (text === undefined) return removed;
  for (const action of policyActions) {
    for (;;) {
      const at = (parsePermissions(text, path)[action] ?? []).findIndex(
        (entry) => textOf(entry) === rule,
      );
      if (at === -1) break;
      text = removeFromList(text, ["permissions", action], at);
      if (!removed.includes(action)) removed.push(action);
    }
  }
  if (removed.length > 0) await write(path, text);
  return removed;
}

export function textOf(entry: RuleEntry): string {
  return typeof entry === "string" ? entry : entry.rule;
}

/**
 * Returns the text of a settings file; undefined if there is none. With `root`, a real path, the
 * file must be in it: a project may bring links. Throws `CommandError` for anything but UTF-8 text
 * of at most 1 MB.
 */
export async function readSettings(path: string, root?: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    const from = root === undefined ? "" : relative(root, real);
    if (from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from))
      throw broken(path, "leads out of the project and was not read");
    const stats = await stat(real); // before reading, because a pipe would make it wait
    if (!stats.isFile() || stats.size > MAX_BYTES) throw broken(path, "is no file of at most 1 MB");
    // Lenient decoding would accept files that trust does not cover.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(real));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") throw broken(path, "is not UTF-8 text");
    throw broken(path, `cannot be read (${code})`);
  }
}

/** Returns the SHA-256 of a text's bytes. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function parsePermissions(text: string, path: string): RuleLists {
  let settings: unknown;
  try {
    settings = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw broken(path, `is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(settings)) throw broken(path, "is no JSON object");
  // One of the two would have no effect, and rules could be added to it.
  const twin = twinIn(text.replace(/^\uFEFF/, ""), path);
  if (twin !== undefined) throw broken(path, `has ${JSON.stringify(twin)} twice`);
  const { permissions = {} } = settings;
  if (!isRecord(permissions)) throw broken(path, "has permissions that are no object");
  for (const [action, list] of Object.entries(permissions)) {
    if (!policyActions.some((known) => known === action))
      throw broken(path, `has permissions.${action}; permissions has allow, ask and deny`);
    if (!Array.isArray(list) || list.length > MAX_RULES || !list.every(isEntry))
      throw broken(
        path,
        `has a permissions.${action} that is no list of at most ${MAX_RULES} rules`,
      );
  }
  return permissions;
}

function twinIn(text: string, path: string): string | undefined {
  try {
    return findTwin(text);
  } catch (error) {
    throw broken(path, `cannot be used: ${(error as Error).message}`);
  }
}

function isEntry(value: unknown): value is RuleEntry {
  if (typeof value === "string") return true;
  if (!isRecord(value)) return false;
  const { rule, match = [], notMatch = [], ...others } = value;
  const isList = (list: unknown): boolean =>
    Array.isArray(list) && list.every((one) => typeof one === "string");
  return typeof rule === "string" && isList(match) && isList(notMatch) && isEmpty(others);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function write(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path).catch(() => path);
    await removeLink(`${target}.new`);
    await replaceFile(target, text);
  } catch (error) {
    if (!isBowlineError(error)) throw error;
    throw new CommandError(oneLine(error.message, 1000), { cause: error });
  }
}

/** A project could bring a link where the new file is written first. */
async function removeLink(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink() === true) await rm(path);
}

function broken(path: string, why: string): CommandError {
  return new CommandError(oneLine(`${path} ${why}.`, 1000));
}
