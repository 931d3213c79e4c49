/** `bowline permissions`: shows, explains and changes the rules for calls. */
import { UsageError } from "../command-error.ts";
import { loadPermissions, permissionFiles, type ProjectTrust } from "../policy/load-permissions.ts";
import { hashOf, readSettings, removeRule } from "../policy/permission-file.ts";
import type { JudgedCall, Permissions } from "../policy/permissions.ts";
import { loadProject } from "../project/project.ts";
import type { PolicyAction } from "../policy/policy.ts";
import { RuleError, ruleText } from "../policy/rule-text.ts";
import { oneLine, printable, printableJson, styleFor, type Style } from "../terminal.ts";
import { exitCode } from "./exit.ts";
import { permissionsHelp } from "./help.ts";
import { parsePermissionsOptions, type PermissionsOptions } from "./permissions-options.ts";

/** The exit codes of `why`. */
const whyCodes: Readonly<Record<PolicyAction, number>> = { allow: 0, ask: 3, deny: 4 };

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function permissions(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parsePermissionsOptions(args);
  const { stdout, env } = host;
  if (options.help) {
    stdout.write(permissionsHelp());
    return exitCode.done;
  }
  const directory = host.cwd();
  const { settingsTrust: trust } = await loadProject({ directory, env, now: new Date() });
  const rules = await loadPermissions({ directory, env, trust, searchesHide: true });
  for (const notice of rules.notices) host.stderr.write(`bowline: ${oneLine(notice, 1000)}\n`);
  switch (options.name) {
    case "list":
      return list(rules, options, host);
    case "why":
      return why(rules, options, host);
    case "add":
      return add(rules, options, host);
    case "remove":
      return remove(options, trust, host);
  }
}

function list(
  rules: Permissions,
  { json }: PermissionsOptions,
  { stdout, env }: NodeJS.Process,
): number {
  const listed = rules.list();
  if (json) for (const rule of listed) stdout.write(`${printableJson(rule)}\n`);
  else {
    const style = styleFor(stdout, env);
    const width = Math.max(...listed.map(({ rule }) => rule.length));
    for (const { action, rule, source } of listed)
      stdout.write(
        `${action.padEnd(5)}  ${printable(rule).padEnd(width)}  ${style.dim(printable(source))}\n`,
      );
  }
  return exitCode.done;
}

function why(
  rules: Permissions,
  { operands, json }: PermissionsOptions,
  { stdout, env }: NodeJS.Process,
): number {
  const call = callOf(operands);
  const verdict = rules.judge(call);
  const suggestions = rules.suggest(call);
  const { action, rule, reason, parts } = verdict;
  if (json) {
    const by = rule && { rule: ruleText(rule), action: rule.action, source: rule.source };
    stdout.write(
      `${printableJson({ action, reason, parts, ...(by && { rule: by }), suggestions })}\n`,
    );
  } else stdout.write(explained(rules, call, styleFor(stdout, env)));
  return whyCodes[action];
}

function explained(rules: Permissions, call: JudgedCall, style: Style): string {
  const { action, reason, parts } = rules.judge(call);
  const lines = [`${style.bold(action)}: ${oneLine(reason, 2000)}`];
  for (const part of parts) lines.push(`  part  ${oneLine(part, 2000)}`);
  for (const { rule, also } of rules.suggest(call))
    lines.push(`  rule that would allow it  ${printable(rule)}`, `    also allows: ${also}`);
  return `${lines.join("\n")}\n`;
}

const pathTools = ["read", "write", "edit", "grep", "glob"];

/** Reads `'<command>'`, `<tool> <path>` or the name of a server's tool. */
function callOf([first = "", second]: readonly string[]): JudgedCall {
  // No command has such a name in practice, and bash judges it if it is named before.
  if (second === undefined && /^[\w-]+__[\w-]+$/.test(first)) return { tool: first, args: {} };
  if (second === undefined) return { tool: "bash", args: { command: first } };
  if (first === "bash") return { tool: first, args: { command: second } };
  if (pathTools.includes(first)) return { tool: first, args: { path: second, pattern: "*" } };
  throw new UsageError(
    `bowline permissions why takes one command in quotes, the name of a server's tool, or one of bash, ${pathTools.join(", ")} and a path.`,
  );
}

async function add(
  rules: Permissions,
  { operands, action, scope }: PermissionsOptions,
  host: NodeJS.Process,
): Promise<number> {
  const [, rule = ""] = operands;
  try {
    await rules.add(rule, action, scope);
  } catch (error) {
    if (error instanceof RuleError) throw new UsageError(error.message);
    throw error;
  }
  const { user, local } = permissionFiles({ directory: host.cwd(), env: host.env });
  host.stderr.write(
    `bowline: ${action} ${printable(rule)} is in ${scope === "user" ? user : local}\n`,
  );
  return exitCode.done;
}

async function remove(
  { operands }: PermissionsOptions,
  trust: ProjectTrust,
  host: NodeJS.Process,
): Promise<number> {
  const { stderr, env } = host;
  const [rule = ""] = operands;
  let isFound = false;
  const { user, project, local } = permissionFiles({ directory: host.cwd(), env });
  for (const path of [user, project, local]) {
    const before = await readSettings(path);
    const actions = await removeRule(path, rule);
    const after = await readSettings(path);
    if (path !== user && before !== undefined && after !== undefined && after !== before)
      await trust.changed(path, hashOf(before), hashOf(after));
    isFound ||= actions.length > 0;
    for (const action of actions)
      stderr.write(`bowline: ${action} ${printable(rule)} is removed from ${printable(path)}\n`);
  }
  if (isFound) return exitCode.done;
  stderr.write(`bowline: no file has the rule ${printable(rule)}; see bowline permissions list\n`);
  return exitCode.failed;
}
