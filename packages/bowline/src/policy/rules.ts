/**
 * The policy's rules: those of the configuration, and those that people added by allowing for ever
 * or for a session, in a file.
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
  judge(call: Call): Verdict;
  /** Patterns of paths that this tool's searches have to leave out in this session. */
  hidden?(call: Pick<Call, "tool" | "sessionKey">): readonly string[];
  /** Resolves when it is on the disk. Rejects with `storage_failed`. */
  add(rule: PolicyRule): Promise<void>;
  /**
   * Takes back what was allowed in a session, which is gone: another may come to have its key.
   * Rejects with `storage_failed`.
   */
  forget?(sessionKey: string): Promise<void>;
}

/**
 * Without a file, what is added lasts as long as the process. A search that would reach what a rule
 * denies is asked about, unless the tools leave it out (`searchesHide`). Rejects with `storage_failed` for a
 * file that is no list of rules.
 */
export async function loadRules(
  configured: readonly PolicyRule[] = [],
  file?: string,
  options: JudgeOptions = {},
): Promise<Rules & Required<Pick<Rules, "hidden">>> {
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
    hidden: (call) => hiddenPaths(all(), call),
    async add(rule) {
      const isKnown = added.some((known) => JSON.stringify(known) === JSON.stringify(rule));
      if (!isKnown) added.push(rule);
      try {
        await write(); // of one that is known, too: it may be on its way to the disk still, or may not have come there
      } catch (error) {
        if (!isKnown) added.splice(added.indexOf(rule), 1); // whoever allowed it is told that it does not hold
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
        added.push(...gone); // they are in the file still
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
    // said below
  }
  // To go on without its denials would allow what was forbidden.
  throw new BowlineError("storage_failed", `${file} is no list of rules: mend or delete it.`);
}

function isRule(value: unknown): value is PolicyRule {
  const { action, tool, pattern, sessionKey } = (value ?? {}) as Record<string, unknown>;
  const isText = (field: unknown): boolean => field === undefined || typeof field === "string";
  const isAction = action === "allow" || action === "ask" || action === "deny";
  return isAction && typeof tool === "string" && isText(pattern) && isText(sessionKey);
}
