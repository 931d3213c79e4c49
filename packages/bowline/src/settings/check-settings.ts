/** Checks the content of a settings file. Everything that is unknown is refused. */
import { withoutSecrets } from "../environment.ts";
import { CommandError } from "../command-error.ts";
import { isHttp } from "../is-http.ts";
import { oneLine } from "../terminal.ts";
import { JsonError, readJson, type JsonPlace } from "./json-text.ts";
import {
  settingNames,
  settingTable,
  type HookSettings,
  type SettingName,
  type Settings,
  type SettingsScope,
} from "./keys.ts";
import { didYouMean } from "./nearest-name.ts";
import { checkServers } from "./check-servers.ts";
import { readHooks, relativeHook } from "./check-hooks.ts";
import { isRecord, isText, show, WRITE_ABSOLUTE, type Fail, type Path } from "./shapes.ts";

export interface CheckOptions {
  /** The file's name in messages. */
  readonly path: string;
  readonly scope: SettingsScope;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MAX_LIST = 500;
const VARIABLE = /^[A-Za-z_]\w*$/;

/**
 * Returns the settings in a text. Throws `CommandError` with file, line and column for text that is
 * not plain JSON, an unknown name, a value of a wrong type, and a setting that this file must not
 * contain.
 */
export function checkSettings(text: string, options: CheckOptions): Settings {
  const read = located(() => readJson(text), options.path);
  const fail: Fail = (path, message) => refuse(options.path, read.placeOf(path), message);
  const { value } = read;
  if (!isRecord(value)) return fail([], "The settings are a JSON object, in braces.");
  const settings: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    if (name === "$schema") continue;
    if (!isSettingName(name))
      return fail([name], `There is no setting ${show(name)}.${didYouMean(name, settingNames)}`);
    const { allowedIn } = settingTable[name];
    if (allowedIn === "your own file" && options.scope !== "user")
      return fail([name], `${name} can only be set in your own settings, not in a project.`);
    settings[name] = checked(name, given, options, fail);
  }
  if (settings.apiKeyEnv !== undefined && (settings.model ?? settings.baseUrl) === undefined)
    return fail(["apiKeyEnv"], "apiKeyEnv needs model or baseUrl in the same file.");
  return settings;
}

function located<T>(work: () => T, path: string): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return refuse(path, error.place, `${error.message}.`);
  }
}

function refuse(path: string, { line, column }: JsonPlace, message: string): never {
  throw new CommandError(oneLine(`${path}:${line}:${column}: ${message}`, 1000));
}

function checked(name: SettingName, given: unknown, options: CheckOptions, fail: Fail): unknown {
  const { type, hasVariables = false } = settingTable[name];
  const wrong = (what: string): never => fail([name], `${name} takes ${what}, not ${show(given)}.`);
  switch (type.kind) {
    case "text":
      if (!isText(given)) return wrong("a text");
      return hasVariables ? withVariables(name, given, options, fail) : given;
    case "address":
      return address(name, given, options, fail);
    case "variable":
      return isVariable(given) ? given : wrong("the name of an environment variable");
    case "choice": {
      if (type.values.some((value) => value === given)) return given;
      const hint = typeof given === "string" ? didYouMean(given, type.values) : "";
      return fail([name], `${name} takes one of ${list(type.values)}, not ${show(given)}.${hint}`);
    }
    case "number": {
      const { least, most } = type;
      const isRight = Number.isInteger(given) && Number(given) >= least && Number(given) <= most;
      return isRight ? given : wrong(`a whole number from ${least} to ${most}`);
    }
    case "switch":
      return typeof given === "boolean" ? given : wrong("true or false");
    case "names":
      return names([name], given, fail);
    case "keys":
      return keys(name, given, fail);
    case "permissions":
      return permissions(name, given, fail);
    case "servers":
      return checkServers([name], given, { scope: options.scope, fail });
    case "hooks":
      return hooks(name, given, options, fail);
  }
}

function address(name: SettingName, given: unknown, options: CheckOptions, fail: Fail): string {
  if (!isText(given)) return fail([name], `${name} takes an address, not ${show(given)}.`);
  if (options.scope !== "user" && given.includes("${"))
    return fail([name], `${name} of a project cannot contain variables of the environment.`);
  const url = withVariables(name, given, options, fail);
  if (!isHttp(url)) return fail([name], `${name} takes an http or https address.`);
  const { username, password } = new URL(url);
  if (username !== "" || password !== "")
    return fail([name], `${name} cannot contain a user name or a password.`);
  return url;
}

/** Replaces `${NAME}`; `$${` stands for `${`. */
function withVariables(name: SettingName, text: string, { env }: CheckOptions, fail: Fail): string {
  return text.replaceAll(/\$\$\{|\$\{([^}]*)\}?/g, (all: string, variable: string | undefined) => {
    if (variable === undefined) return "${";
    if (!all.endsWith("}") || !VARIABLE.test(variable))
      return fail([name], `${show(all)} is not a variable. Write \${NAME}, or $\${ for the text.`);
    const value = env[variable];
    if (value !== undefined && withoutSecrets({ [variable]: value })[variable] === undefined)
      return fail([name], `${name} cannot contain ${variable}, because it looks like a secret.`);
    if (value === undefined) return fail([name], `${name}: the variable ${variable} is not set.`);
    return value;
  });
}

function keys(name: SettingName, given: unknown, fail: Fail): Record<string, string> {
  if (!isRecord(given))
    return fail([name], `${name} takes an object of addresses and variables, not ${show(given)}.`);
  const entries = Object.entries(given).map(([url, variable]): [string, string] => {
    if (!isHttp(url)) return fail([name, url], `${show(url)} is not an http or https address.`);
    if (!isVariable(variable))
      return fail(
        [name, url],
        `${show(url)} takes the name of an environment variable, not ${show(variable)}.`,
      );
    return [url, variable];
  });
  return Object.fromEntries(entries);
}

function hooks(
  name: SettingName,
  given: unknown,
  { scope }: CheckOptions,
  fail: Fail,
): HookSettings {
  const { hooks: read, problems } = readHooks(given, [name]);
  const [first] = problems;
  if (first !== undefined) return fail(first.path, first.message);
  const relative = scope === "user" ? relativeHook(read) : undefined;
  if (relative !== undefined)
    fail([name], `The hook ${show(relative)} would be a file of each project. ${WRITE_ABSOLUTE}`);
  return read;
}

const permissionLists = ["allow", "ask", "deny"] as const;

function permissions(name: SettingName, given: unknown, fail: Fail): Record<string, unknown> {
  if (!isRecord(given))
    return fail([name], `${name} takes an object with allow, ask and deny, not ${show(given)}.`);
  const checkedLists = Object.entries(given).map(([action, rules]) => {
    if (!permissionLists.some((known) => known === action))
      return fail(
        [name, action],
        `${name} has allow, ask and deny, but not ${show(action)}.${didYouMean(action, permissionLists)}`,
      );
    if (!Array.isArray(rules) || rules.length > MAX_LIST)
      return fail([name, action], `${name}.${action} takes a list of at most ${MAX_LIST} rules.`);
    return [
      action,
      rules.map((rule: unknown, at) => permission([name, action, at], rule, fail)),
    ] as const;
  });
  return Object.fromEntries(checkedLists);
}

const ruleFields = ["rule", "match", "notMatch"] as const;

function permission(path: Path, given: unknown, fail: Fail): unknown {
  if (isText(given)) return given;
  if (!isRecord(given))
    return fail(path, `A rule is a text, or an object with rule, match and notMatch.`);
  const { rule, match, notMatch } = given;
  const unknown = Object.keys(given).find((field) => !ruleFields.some((known) => known === field));
  if (unknown !== undefined)
    return fail(
      [...path, unknown],
      `A rule has rule, match and notMatch, but not ${show(unknown)}.${didYouMean(unknown, ruleFields)}`,
    );
  if (!isText(rule)) return fail(path, "A rule needs its text in rule.");
  return {
    rule,
    ...(match !== undefined && { match: names([...path, "match"], match, fail) }),
    ...(notMatch !== undefined && { notMatch: names([...path, "notMatch"], notMatch, fail) }),
  };
}

function names(path: Path, given: unknown, fail: Fail): readonly string[] {
  if (Array.isArray(given) && given.length <= MAX_LIST && given.every(isText)) return given;
  return fail(path, `${path.join(".")} takes a list of at most ${MAX_LIST} texts.`);
}

function isVariable(given: unknown): given is string {
  return typeof given === "string" && VARIABLE.test(given);
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingTable, name);
}

function list(values: readonly string[]): string {
  return values.map(show).join(", ");
}
