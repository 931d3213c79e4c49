/**
 * The rules of the policy: those configured, and those that people added by allowing a call always
 * or for a session. Added rules are stored in a file.
 */
import { readFile } from "node:fs/promises";
import { BowlineError } from "@bowline/core";
import {
  defaultRules,
  hiddenPaths,
  judge,
  type Call,
  type JudgeOptions,
  type PolicyRule,
  type Verdict,
} from "./policy.ts";
import { replaceFile } from "../replace-file.ts";

export interface Rules {
  judge(call: Call): Pick<Verdict, "action" | "rule">;
  /**
   * Judges a call as if people had added these rules. A cluster stores such rules for all of its
   * processes, and does not call {@link add}. Without this method it allows calls once only.
   */
  judgeWith?(call: Call, added: readonly PolicyRule[]): Pick<Verdict, "action" | "rule">;
  /** Returns the path patterns that this tool's searches must omit in this session. */
  hidden?(call: Pick<Call, "tool" | "sessionKey">): readonly string[];
  /** Resolves when the rule is on the disk. Rejects with `storage_failed`. */
  add(rule: PolicyRule): Promise<void>;
  /**
   * Removes the allow rules of a deleted session, because another session may get its key. Rejects
   * with `storage_failed`.
   */
  forget?(sessionKey: string): Promise<void>;
}

export interface LoadedRules extends Rules {
  judgeWith(call: Call, added: readonly PolicyRule[]): Verdict;
  hidden(call: Pick<Call, "tool" | "sessionKey">): readonly string[];
  /** Returns the rules that people added. */
  added(): readonly PolicyRule[];
}

/**
 * Loads the rules. Without a file, added rules last until the process ends. A search that would
 * reach a denied path is asked about, unless the tools omit it (`searchesHide`). Rejects with
 * `storage_failed` if the file is not a list of rules.
 */
export async function loadRules(
  configured: readonly PolicyRule[] = [],
  file?: string,
  options: JudgeOptions = {},
): Promise<LoadedRules> {
  const added: PolicyRule[] = file === undefined ? [] : await read(file);
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    if (file === undefined) return;
    const replace = (): Promise<void> =>
      replaceFile(file, `${JSON.stringify({ rules: added }, undefined, 2)}\n`);
    await (writing = writing.then(replace, replace));
  };
  const all = (): PolicyRule[] => [...defaultRules, ...configured, ...added];
  return {
    judge: (call) => judge(all(), call, options),
    judgeWith: (call, more) => judge([...all(), ...more], call, options),
    hidden: (call) => hiddenPaths(all(), call),
    added: () => [...added],
    async add(rule) {
      const isKnown = added.some((known) => JSON.stringify(known) === JSON.stringify(rule));
      if (!isKnown) added.push(rule);
      try {
        await write(); // also for a known rule: its write may be pending or may have failed
      } catch (error) {
        if (!isKnown) added.splice(added.indexOf(rule), 1); // the caller's error says that the rule does not apply
        throw error;
      }
    },
    async forget(sessionKey) {
      const gone = added.filter(
        (rule) => rule.sessionKey === sessionKey && rule.action === "allow",
      );
      if (gone.length === 0) return;
      for (const rule of gone) added.splice(added.indexOf(rule), 1);
      try {
        await write();
      } catch (error) {
        added.push(...gone); // the file still contains them
        throw error;
      }
    },
  };
}

async function read(file: string): Promise<PolicyRule[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new BowlineError("storage_failed", `${file} cannot be read.`, { cause: error });
  }
  try {
    const { rules } = JSON.parse(text) as { rules?: unknown };
    if (Array.isArray(rules) && rules.every(isRule)) return rules;
  } catch {
    // reported below
  }
  // Continuing without the file's denials would allow what was forbidden.
  throw new BowlineError("storage_failed", `${file} is not a list of rules. Fix or delete it.`);
}

function isRule(value: unknown): value is PolicyRule {
  const { action, tool, pattern, sessionKey } = (value ?? {}) as Record<string, unknown>;
  const isText = (field: unknown): boolean => field === undefined || typeof field === "string";
  const isAction = action === "allow" || action === "ask" || action === "deny";
  return isAction && typeof tool === "string" && isText(pattern) && isText(sessionKey);
}
