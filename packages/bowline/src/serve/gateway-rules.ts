/**
 * The rules of `bowline serve`: those of the settings files, as for the command, and those of
 * sessions, which have a file of their own.
 */
import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { BowlineError } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { loadPermissions, permissionFiles, type ProjectTrust } from "../policy/load-permissions.ts";
import { addRules } from "../policy/permission-file.ts";
import type { PolicyAction, PolicyRule } from "../policy/policy.ts";
import { parseRule, RuleError, ruleText, splitRules } from "../policy/rule-text.ts";
import { loadRules, type LoadedRules } from "../policy/rules.ts";

export interface GatewayRulesOptions {
  /** The folder of the gateway's data. */
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the user trusts of the workspace's settings. Default: nothing. */
  readonly trust?: ProjectTrust | undefined;
  /** Rules of the program. */
  readonly configured?: readonly PolicyRule[];
}

export interface GatewayRules {
  readonly rules: Omit<LoadedRules, "added">;
  /** Lines for a person. */
  readonly notices: readonly string[];
}

/** Rejects with `storage_failed` if a file is broken or cannot be written. */
export async function openGatewayRules(options: GatewayRulesOptions): Promise<GatewayRules> {
  const { home, workspace, env, trust, configured = [] } = options;
  const ofSessions = await loadRules([], join(home, "rules.json"));
  const { user } = permissionFiles({ directory: workspace, env });
  return stored(async () => {
    const moved = await movePolicy(home, user, ofSessions);
    const permissions = await loadPermissions({
      directory: workspace,
      env,
      ...(trust && { trust }),
      searchesHide: true,
      others: () => [...configured, ...ofSessions.added()],
    });
    return {
      notices: [...moved, ...permissions.notices],
      rules: {
        judge: (call) => permissions.judge(call),
        judgeWith: (call, added) => permissions.judge(call, added),
        hidden: (call) => permissions.hidden(call),
        forget: (sessionKey) => ofSessions.forget?.(sessionKey) ?? Promise.resolve(),
        add: async (rule) => {
          const text = settingOf(rule);
          if (text === undefined) await ofSessions.add(rule);
          else await stored(() => permissions.add(text, rule.action, "user"));
        },
      },
    };
  });
}

/** Moves the rules of earlier versions, once. Repeats it safely if the process is killed. */
async function movePolicy(
  home: string,
  user: string,
  ofSessions: LoadedRules,
): Promise<readonly string[]> {
  const old = join(home, "policy.json");
  if ((await stat(old).catch(() => undefined)) === undefined) return [];
  const before = (await loadRules([], old)).added();
  const byAction = new Map<PolicyAction, string[]>();
  for (const rule of before) {
    const text = settingOf(rule);
    if (text === undefined) await ofSessions.add(rule);
    else byAction.set(rule.action, [...(byAction.get(rule.action) ?? []), text]);
  }
  for (const [action, texts] of byAction) await addRules(user, action, texts);
  await rename(old, `${old}.moved`);
  return [
    `The rules of ${old} are now in ${user}; those of sessions are in rules.json beside it. The old file is policy.json.moved.`,
  ];
}

/** Returns the rule as a text of the settings; undefined if they cannot hold it. */
function settingOf(rule: PolicyRule): string | undefined {
  if (rule.sessionKey !== undefined) return undefined;
  const text = ruleText(rule);
  try {
    const parsed = splitRules(text).flatMap((one) => parseRule(one, rule.action));
    const [first, ...more] = parsed;
    const isSame = first?.tool === rule.tool && first.pattern === rule.pattern;
    // A deny that ends in ":*" or names a path becomes two rules, of which the first is the same.
    return isSame && more.every(({ tool }) => tool === rule.tool) ? text : undefined;
  } catch (error) {
    if (error instanceof RuleError) return undefined;
    throw error;
  }
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new BowlineError("storage_failed", error.message, { cause: error });
  }
}
