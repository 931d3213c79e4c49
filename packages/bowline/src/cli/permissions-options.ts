/** The options of `bowline permissions` and their parser. */
import { UsageError } from "../command-error.ts";
import type { PolicyAction } from "../policy/policy.ts";
import { parseByTable, type Option } from "./options.ts";

type CommandName = "list" | "why" | "add" | "remove";
/** The file that a rule is written to. */
type FileScope = "project" | "user";

export interface PermissionsCommand {
  readonly name: CommandName;
  readonly takes: readonly string[];
  readonly help: string;
  readonly options: readonly Option[];
}

const json: Option = { name: "json", help: "print JSON instead" };
const helpOption: Option = { name: "help", short: "h", help: "show this help" };
const scope: Option = {
  name: "scope",
  short: "s",
  value: "scope",
  help: "project (bowline.local.json, the default) or user (your own bowline.json)",
};

/** The first is the default of `bowline permissions`. */
export const permissionCommands: readonly PermissionsCommand[] = [
  { name: "list", takes: [], help: "the rules that apply here, and their files", options: [json] },
  {
    name: "why",
    takes: ["command"],
    help: "what would happen to a command, to <tool> <path>, or to a server's tool, and by which rule",
    options: [json],
  },
  {
    name: "add",
    takes: ["action", "rule"],
    help: "add a rule; <action> is allow, ask or deny",
    options: [scope],
  },
  {
    name: "remove",
    takes: ["rule"],
    help: "remove a rule from the files of the project and yours",
    options: [],
  },
];

export interface PermissionsOptions {
  readonly name: CommandName;
  readonly help: boolean;
  readonly json: boolean;
  readonly operands: readonly string[];
  readonly action: PolicyAction;
  readonly scope: FileScope;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parsePermissionsOptions(args: readonly string[]): PermissionsOptions {
  const [first] = args;
  const isNamed = first !== undefined && !first.startsWith("-");
  const command = permissionCommands.find(({ name }) => name === (isNamed ? first : "list"));
  if (command === undefined)
    throw new UsageError(
      `There is no bowline permissions ${JSON.stringify(first)}: use one of ${permissionCommands.map(({ name }) => name).join(", ")}.`,
    );
  const table = [...command.options, helpOption];
  const given = isNamed ? args.slice(1) : args;
  const { values, positionals, text } = parseByTable(given, table, "permissions");
  const help = values.help === true;
  return {
    name: command.name,
    help,
    json: values.json === true,
    operands: help ? [] : operandsOf(command, positionals),
    action: command.name === "add" && !help ? actionOf(positionals[0]) : "allow",
    scope: scopeOf(text("scope")),
  };
}

function operandsOf(
  { name, takes }: PermissionsCommand,
  given: readonly string[],
): readonly string[] {
  const usage = `bowline permissions ${[name, ...takes.map((what) => `<${what}>`)].join(" ")}`;
  if (given.length < takes.length || given.includes(""))
    throw new UsageError(`Which ${takes[given.length] ?? "one"}? ${usage}`);
  const most = name === "why" ? 2 : takes.length;
  if (given.length > most) {
    const hint = name === "list" ? "" : " Quote it as one word.";
    throw new UsageError(`${usage} takes no ${JSON.stringify(given[most])}.${hint}`);
  }
  return given;
}

function actionOf(text: string | undefined): PolicyAction {
  if (text === "allow" || text === "ask" || text === "deny") return text;
  throw new UsageError(`A rule is to allow, ask or deny, not ${JSON.stringify(text)}.`);
}

function scopeOf(text = "project"): FileScope {
  if (text === "project" || text === "user") return text;
  throw new UsageError(`--scope takes project or user, not ${JSON.stringify(text)}.`);
}
